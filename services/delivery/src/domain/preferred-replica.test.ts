import { expect, test } from "vitest";
import { preferredReplica } from "./preferred-replica.ts";

const partitions = Array.from({ length: 64 }, (_, partition) => partition);
const preferred = (replicas: readonly string[]) => partitions.map((partition) => preferredReplica(partition, replicas));

test("the order in which replicas are listed does not change which one is preferred for a partition", () => {
  expect(preferred(["a", "b", "c"])).toEqual(preferred(["c", "a", "b"]));
});

test("each replica is preferred for some partitions", () => {
  expect(new Set(preferred(["a", "b", "c"]))).toEqual(new Set(["a", "b", "c"]));
});

test("no replica is preferred where there are none", () => {
  expect(preferredReplica(0, [])).toBeUndefined();
});

test("when a replica leaves, only its partitions get another replica", () => {
  const before = preferred(["a", "b", "c"]);
  const after = preferred(["a", "b"]);
  for (const [partition, replica] of before.entries()) if (replica !== "c") expect(after[partition]).toBe(replica);
});
