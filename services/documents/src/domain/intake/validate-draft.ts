import { DomainError, type Violation } from "@vidimus/kit/errors";
import type { TypeRegistry } from "../types/document-type.ts";
import { type DraftReader, draftViolations } from "./read-draft.ts";

export interface ValidateDocumentDeps {
  readDraft: DraftReader;
  types: Pick<TypeRegistry, "find">;
}

interface Validation {
  violations: Violation[];
  /** 0 for a built-in schema, and when the document was refused before its schema was known. */
  schemaGeneration: number;
}

/**
 * Checks a create request, flat or wrapped and with or without an id, against the rules that its
 * type has for intake or for publication. Stores nothing.
 */
export async function validateDraft(
  { readDraft, types }: ValidateDocumentDeps,
  tenantId: string,
  json: Uint8Array,
  options: { forPublication: boolean; signal?: AbortSignal },
): Promise<Validation> {
  const { forPublication, signal } = options;
  try {
    const draft = await readDraft(tenantId, json, { as: "dryRun" }, signal);
    const { document } = draft;
    if (!document) return { violations: draftViolations(draft, draft.violations), schemaGeneration: 0 };
    const known = await types.find(tenantId, document.type);
    if (!known) return { violations: draftViolations(draft, [unknownType(document.type)]), schemaGeneration: 0 };
    const { type } = known;
    const violations = await type.check(document, forPublication ? "publication" : "shape", signal);
    return { violations: draftViolations(draft, violations), schemaGeneration: type.generation };
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== "invalid") throw error;
    const { message } = error;
    const violations = error.violations.length > 0 ? [...error.violations] : [{ pointer: "", message }];
    return { violations, schemaGeneration: 0 };
  }
}

/** The violation of a document whose type has no schema or no workflow. */
export function unknownType(name: string): Violation {
  return { pointer: "/type", message: `"${name}" is not a type this tenant knows` };
}
