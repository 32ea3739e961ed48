import { create, toBinary } from "@bufbuild/protobuf";
import { partitionOf, snapshotSubjects } from "@vidimus/contracts/snapshot-subject";
import { SnapshotReferencesSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { pino } from "pino";
import { expect, test } from "vitest";
import { listenForReferences } from "./listen-for-references.ts";

const documentId = "01890000-0000-7000-8000-00000000beef";

/**
 * A bus that remembers its subscriptions, and a listener whose replica is preferred for the
 * partitions `preferred`.
 */
function open(preferred: Set<number>) {
  const handlers = new Map<string, (data: Uint8Array) => void>();
  const ingested: string[] = [];
  const follow = listenForReferences({
    bus: {
      onBroadcast: (subject, handle) => {
        handlers.set(subject, handle);
        return { [Symbol.dispose]: () => void handlers.delete(subject) };
      },
    },
    ingest: { ingest: async (references) => void ingested.push(...references.map(({ tenantId }) => tenantId)) },
    isPreferredForPartition: (partition) => preferred.has(partition),
    isPreferredFor: (tenantId) => preferred.has(partitionOf(tenantId)),
    log: pino({ level: "silent" }),
  });
  const tell = (subject: string, ...tenants: string[]) => {
    const references = tenants.map((tenantId) => ({ tenantId, documentId, sequence: 1n }));
    handlers.get(subject)?.(toBinary(SnapshotReferencesSchema, create(SnapshotReferencesSchema, { references })));
  };
  return { follow, tell, ingested, subjects: () => [...handlers.keys()] };
}

test("a replica subscribes to each partition that it is preferred for, or once for all 64", () => {
  const preferred = new Set(Array.from({ length: 64 }, (_, partition) => partition));
  const { follow, subjects } = open(preferred);
  expect(subjects()).toEqual([snapshotSubjects]);
  for (let partition = 2; partition < 64; partition++) preferred.delete(partition);
  follow();
  expect(subjects()).toEqual(["vidimus.snapshots.v1.*.0", "vidimus.snapshots.v1.*.1"]);
  preferred.add(9).delete(0);
  follow();
  expect(subjects()).toEqual(["vidimus.snapshots.v1.*.1", "vidimus.snapshots.v1.*.9"]);
});

test("a replica ignores references of another replica's tenants, even on a subject that it subscribes to", () => {
  const own = partitionOf("acme");
  expect(partitionOf("rival")).not.toBe(own);
  const { tell, ingested } = open(new Set([own]));
  tell(`vidimus.snapshots.v1.*.${own}`, "acme", "rival");
  expect(ingested).toEqual(["acme"]);
});
