import { DomainError, type Violation } from "@vidimus/kit/errors";
import { randomUUID } from "node:crypto";
import { violationsBelow } from "../document/invalid-document.ts";
import { isJsonObject, type JsonValue } from "../json/json-value.ts";
import { parseJson } from "../json/parse-json.ts";
import type { TypeRegistry } from "../types/document-type.ts";
import { openEnvelope } from "./open-envelope.ts";
import { readMembers } from "./read-members.ts";

/** What is wrong with a document, and what it was checked against. */
export interface Judgement {
  violations: Violation[];
  /** 0 also when the document did not come as far as its type. */
  schemaGeneration: number;
}

/** Judges a create request, in either form and with or without an id, as intake or publication would, and stores nothing. */
export async function judgeDraft(
  types: Pick<TypeRegistry, "find">,
  tenantId: string,
  json: Uint8Array,
  forPublication: boolean,
): Promise<Judgement> {
  try {
    const { members, pointer } = openEnvelope(withId(parseJson(json)), randomUUID);
    const reading = readMembers(members);
    if ("violations" in reading)
      return { violations: violationsBelow(pointer, reading.violations), schemaGeneration: 0 };
    const { type: name, value } = reading.document;
    const known = await types.find(tenantId, name);
    if (!known) return { violations: violationsBelow(pointer, [unknownType(name)]), schemaGeneration: 0 };
    const { type } = known;
    const violations = forPublication ? type.checkPublishable(value) : type.checkShape(value);
    return { violations: violationsBelow(pointer, violations), schemaGeneration: type.generation };
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== "invalid") throw error;
    const { message } = error;
    const violations = error.violations.length > 0 ? [...error.violations] : [{ pointer: "", message }];
    return { violations, schemaGeneration: 0 };
  }
}

/** The fault of a document whose type lacks a schema or a workflow. */
export function unknownType(name: string): Violation {
  return { pointer: "/type", message: `"${name}" is not a type this tenant knows` };
}

/** Whether an id is free is not what is asked. */
function withId(body: JsonValue): JsonValue {
  const isFlat = isJsonObject(body) && !Object.hasOwn(body, "payload");
  return isFlat && !Object.hasOwn(body, "id") ? { ...body, id: randomUUID() } : body;
}
