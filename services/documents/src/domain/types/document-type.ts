import type { Violation } from "@vidimus/kit/errors";
import type { DocumentValue } from "../document/assemble-document.ts";
import type { WorkflowReference } from "../document/document.ts";

/** One generation of a document type: what a document of it must look like. Immutable. */
export interface DocumentType {
  /** For example "core/article". */
  readonly name: string;
  /** 0 is the built-in one. */
  readonly generation: number;
  /** Checks the kinds of known keys, and that the keys required on intake are there. Answers what is wrong, at most 20 places. */
  checkShape(document: DocumentValue): Violation[];
  /** Checks shape and, beyond it, that everything is there that a published document must have. */
  checkPublishable(document: DocumentValue): Violation[];
}

/** A type that documents can be created of: it has a schema and a workflow. */
export interface KnownType {
  readonly type: DocumentType;
  /** What new documents are stamped with. */
  readonly workflow: WorkflowReference;
}

/** The types a tenant knows. */
export interface TypeRegistry {
  /** The type in its newest generation with its current workflow; undefined when it lacks either. */
  find(tenantId: string, name: string): Promise<KnownType | undefined>;
  /** A type in the generation a document was checked against. Rejects when there never was one. */
  at(tenantId: string, name: string, generation: number): Promise<DocumentType>;
}
