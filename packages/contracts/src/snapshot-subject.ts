import { hash } from "node:crypto";

/**
 * Number of partitions that tenants are divided into. Must not change, because subjects of stored
 * messages contain partitions.
 */
export const snapshotPartitions = 64;

/** Matches every subject on which references to snapshots are published. */
export const snapshotSubjects = "vidimus.snapshots.v1.*.*";

/** Matches the subjects of a partition's tenants. */
export function partitionSubjects(partition: number): string {
  return `vidimus.snapshots.v1.*.${partition}`;
}

/** The partition of a tenant, from 0 to 63. */
export function partitionOf(tenantId: string): number {
  return hash("sha256", tenantId, "buffer").readUInt32BE() % snapshotPartitions;
}

/** The subject of a tenant's snapshots: `vidimus.snapshots.v1.<tenant>.<partition>`. */
export function snapshotSubject(tenantId: string): string {
  return `vidimus.snapshots.v1.${tenantId}.${partitionOf(tenantId)}`;
}
