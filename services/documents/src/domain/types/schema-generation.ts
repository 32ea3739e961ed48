interface GenerationKey {
  readonly tenantId: string;
  readonly type: string;
  /** Counts from 1. */
  readonly generation: number;
}

/** A generation without its schemas. */
export interface GenerationSummary extends GenerationKey {
  readonly createdAt: Date;
  readonly createdBy: string;
}

/** One stored generation of a tenant's type. Immutable. */
export interface SchemaGeneration extends GenerationSummary {
  /** Canonical JSON. */
  readonly shape: Uint8Array;
  /** Canonical JSON. */
  readonly complete: Uint8Array;
}
