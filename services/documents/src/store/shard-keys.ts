/**
 * By what each collection is sharded where one machine is too small. A unique index can only be
 * kept by a sharded collection when it starts with the shard key, and a read that names the key
 * asks one shard; so both are arranged for these keys, sharded or not. A document's rows share a
 * shard; so do a tenant's publications, slugs and clock.
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
