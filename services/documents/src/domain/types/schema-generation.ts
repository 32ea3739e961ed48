/** Names one generation of one type of one tenant. */
interface GenerationKey {
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
