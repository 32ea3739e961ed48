import { createHash } from "node:crypto";

/**
 * The preferred replica of a partition, by rendezvous hashing: the one with the highest hash of
 * replica and partition. When a replica joins or leaves, only partitions that it gets or had change
 * their replica.
 *
 * @returns undefined without replicas
 */
export function preferredReplica(partition: number, replicas: readonly string[]): string | undefined {
  let best: { replica: string; weight: bigint } | undefined;
  for (const replica of replicas) {
    const weight = createHash("sha256").update(`${replica}\n${partition}`).digest().readBigUInt64BE();
    if (!best || weight > best.weight || (weight === best.weight && replica < best.replica)) best = { replica, weight };
  }
  return best?.replica;
}
