import type { DocumentType } from "./document-type.ts";
import { jsonSchemaType, type TypeSchemas } from "./json-schema-type.ts";

/** Names one generation of one type of one tenant. */
export interface GenerationKey {
  readonly tenantId: string;
  readonly type: string;
  /** Counts from 1. */
  readonly generation: number;
}

/** What a list shows of a generation. */
export interface GenerationSummary extends GenerationKey {
  readonly createdAt: Date;
  readonly createdBy: string;
}

/** One generation of a tenant's type, as it is kept. Immutable. */
export interface SchemaGeneration extends GenerationSummary {
  /** Canonical JSON. */
  readonly shape: Uint8Array;
  /** Canonical JSON. */
  readonly complete: Uint8Array;
}

/** The type that a generation describes. Its schemas were checked when it was added. */
export function toDocumentType({ type, generation, shape, complete }: SchemaGeneration): DocumentType {
  const schemas: TypeSchemas = { shape: parseStored(shape), complete: parseStored(complete) };
  return jsonSchemaType(type, generation, schemas);
}

function parseStored(bytes: Uint8Array): TypeSchemas["shape"] {
  return JSON.parse(Buffer.from(bytes).toString());
}
