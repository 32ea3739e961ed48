import { create } from "@bufbuild/protobuf";
import { ListPendingSnapshotsResponseSchema } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { startReconciler } from "./reconciler.ts";

/** A reconciler that walks once an hour, and looks at its connection every 5 ms. */
function open(bus: { number: number | undefined }) {
  /** Whether each walk asked for all pending snapshots, young ones too. */
  const walks: boolean[] = [];
  const reconciler = startReconciler({
    feed: {
      listPendingSnapshots: async ({ committedBefore }) => {
        walks.push(committedBefore === undefined);
        return create(ListPendingSnapshotsResponseSchema);
      },
    },
    ingest: { ingest: async () => {}, isInHand: () => false },
    isPreferredFor: () => true,
    beforeWalk: async () => {},
    bus: { connectionNumber: () => bus.number },
    log: pino({ level: "silent" }),
    intervalMs: 3_600_000,
    aloneMs: 5,
    overdueMs: Number.POSITIVE_INFINITY,
  });
  return { walks, reconciler };
}

test("a broker that was away between two looks is noticed: its lost messages are walked for at once", async () => {
  const bus: { number: number | undefined } = { number: 1 };
  const { walks, reconciler } = open(bus);
  await vi.waitFor(() => expect(walks).toEqual([true]));
  bus.number = 2;
  await vi.waitFor(() => expect(walks).toEqual([true, true]));
  await reconciler[Symbol.asyncDispose]();
  expect(walks).toEqual([true, true]);
});

test("while there is no broker it walks again and again, and once more when there is one", async () => {
  const bus: { number: number | undefined } = { number: undefined };
  const { walks, reconciler } = open(bus);
  await vi.waitFor(() => expect(walks.length).toBeGreaterThan(2));
  bus.number = 1;
  const before = walks.length;
  await vi.waitFor(() => expect(walks.length).toBeGreaterThan(before));
  await reconciler[Symbol.asyncDispose]();
  expect(walks).not.toContain(false);
});
