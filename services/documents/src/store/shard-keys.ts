/**
 * The shard key of each collection for a database on several machines. On a sharded collection a
 * unique index must start with the shard key, and a read with the key asks only one shard; indexes
 * and reads follow these keys even without shards. The rows of a document are on one shard, and so
 * are a tenant's publications, slugs and clock.
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
