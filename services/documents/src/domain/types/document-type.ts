import type { Violation } from "@vidimus/kit/errors";
import type { CheckableDocument } from "../document/assemble-document.ts";
import type { WorkflowReference } from "../document/document.ts";

/**
 * How much is asked of a document: `shape`, on intake and on every edit, the kinds of known keys
 * and the keys that are required there; `publication` beyond it everything that a published
 * document must have.
 */
export type Tier = "shape" | "publication";

/**
 * One generation of a document type of a tenant: what a document of it must look like. Immutable.
 */
export interface DocumentType {
  /** For example "core/article". */
  readonly name: string;
  /** 0 is the built-in one. */
  readonly generation: number;
  /**
   * Answers what is wrong with a document, at most 20 places. A type whose check takes more time or
   * memory than a document may cost is a violation too. Rejects with DomainError `unavailable` when
   * it could not be checked.
   */
  check(document: CheckableDocument, tier: Tier, signal?: AbortSignal): Promise<readonly Violation[]>;
  /** Whether `check` takes no more than a few milliseconds. */
  isQuick(document: CheckableDocument): boolean;
}

/** A type that documents can be created of: it has a schema and a workflow. */
interface KnownType {
  readonly type: DocumentType;
  /** What new documents are stamped with. */
  readonly workflow: WorkflowReference;
}

/** The types a tenant knows; made by `type-registry.ts`. */
export interface TypeRegistry {
  /** Whether a tenant has a type: one of the core types, or one with a schema of its own. */
  has(tenantId: string, name: string): Promise<boolean>;
  /**
   * The type in its newest generation with its current workflow; undefined when it lacks either.
   */
  find(tenantId: string, name: string): Promise<KnownType | undefined>;
  /** A type in the generation a document was checked against. Rejects when there never was one. */
  at(tenantId: string, name: string, generation: number): Promise<DocumentType>;
}

/**
 * Where the schemas of a type are: built in, under that name, or kept by a tenant. It can be passed
 * to a thread.
 */
export type TypeSource =
  | { readonly builtIn: string }
  | {
      /** Names tenant, type and generation. */
      readonly key: string;
      /** JSON Schema. In shared memory, so that passing it on copies nothing. */
      readonly shape: Uint8Array;
      /** The same. */
      readonly complete: Uint8Array;
    };

/**
 * Checks documents against types, on the loop or in a thread: `checking/open-checking.ts`. See
 * `DocumentType`.
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
