import type { Violation } from "@vidimus/kit/errors";
import type { CheckableDocument } from "../document/assemble-document.ts";
import type { WorkflowReference } from "../document/document.ts";

/**
 * The rules that a document is checked against: `shape`, for intake and every edit, has the JSON
 * types of known keys and the keys that even a draft must have; `publication` adds all rules for
 * published documents.
 */
export type Tier = "shape" | "publication";

/** One immutable generation of a tenant's document type. */
export interface DocumentType {
  /** For example "core/article". */
  readonly name: string;
  /** 0 for the built-in one. */
  readonly generation: number;
  /**
   * Returns the violations of a document, at most 20. A check that exceeds its time or memory is a
   * violation, too. Rejects with DomainError `unavailable` when the document could not be checked.
   */
  check(document: CheckableDocument, tier: Tier, signal?: AbortSignal): Promise<readonly Violation[]>;
  /** Whether `check` is known to take at most 10 ms. */
  isQuick(document: CheckableDocument): boolean;
}

/** A type with a schema and a workflow, so that documents of it can be created. */
interface KnownType {
  readonly type: DocumentType;
  readonly workflow: WorkflowReference;
}

/** The types that a tenant knows; made by `type-registry.ts`. */
export interface TypeRegistry {
  /** Whether a type is a core type, or one for which the tenant has a schema. */
  has(tenantId: string, name: string): Promise<boolean>;
  /**
   * The type in its newest generation with its current workflow; undefined when the tenant has no
   * schema or no workflow for it.
   */
  find(tenantId: string, name: string): Promise<KnownType | undefined>;
  /**
   * A type in the generation that a document was checked against. Rejects when there is no such
   * generation.
   */
  at(tenantId: string, name: string, generation: number): Promise<DocumentType>;
}

/** The name of a built-in type, or the schemas of a tenant's own. Can be passed to a thread. */
export type TypeSource =
  | { readonly builtIn: string }
  | {
      /** Identifies tenant, type and generation. */
      readonly key: string;
      /** JSON Schema in shared memory, so that a thread gets it without a copy. */
      readonly shape: Uint8Array;
      /** JSON Schema in shared memory. */
      readonly complete: Uint8Array;
    };

/**
 * Checks documents against types, on the event loop or in a thread: `checking/open-checking.ts`.
 * See `DocumentType`.
 */
export interface TypeChecks {
  check(
    tenantId: string,
    source: TypeSource,
    document: CheckableDocument,
    tier: Tier,
    signal?: AbortSignal,
  ): Promise<readonly Violation[]>;
  isQuick(source: TypeSource, document: CheckableDocument): boolean;
}
