/**
 * The shard key of each collection with tenants' rows, for a database on several machines. On a
 * sharded collection a unique index must start with the shard key, and a read with the key asks
 * only one shard. So unique indexes and most reads contain these keys even without shards.
 */
export const shardKeys: Readonly<Record<string, readonly string[]>> = {
  heads: ["tenantId", "documentId"],
  versions: ["tenantId", "documentId"],
  history: ["tenantId", "documentId"],
  snapshots: ["tenantId", "documentId"],
  publications: ["tenantId"],
  clocks: ["tenantId"],
  slugs: ["tenantId"],
  schemas: ["tenantId"],
  workflows: ["tenantId"],
  activations: ["tenantId"],
};
