import { expect, test } from "vitest";
import { partitionOf, snapshotPartitions, snapshotSubject } from "./snapshot-subject.ts";

/**
 * Partitions with which programs in other languages can compare theirs. That of demo is computed
 * from `printf demo | sha256sum`.
 */
const vectors = { demo: 44, rival: 58, acme: 45, a: 18, tenant_0: 63, ["z".repeat(32)]: 52 };

test.each(Object.entries(vectors))("tenant %s is in partition %i", (tenantId, partition) => {
  expect(partitionOf(tenantId)).toBe(partition);
});

test("the subject of a tenant's snapshots ends with the tenant and its partition", () => {
  for (const [tenantId, partition] of Object.entries(vectors)) {
    expect(snapshotSubject(tenantId)).toBe(`vidimus.snapshots.v1.${tenantId}.${partition}`);
  }
});

test("each partition has more than 50 and fewer than 150 of 6,400 tenants", () => {
  const counts = Array.from({ length: snapshotPartitions }, () => 0);
  for (let n = 0; n < 6_400; n++) counts[partitionOf(`tenant_${n}`)]! += 1;
  expect(Math.min(...counts)).toBeGreaterThan(50);
  expect(Math.max(...counts)).toBeLessThan(150);
});
