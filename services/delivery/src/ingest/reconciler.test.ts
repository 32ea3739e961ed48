import { create } from "@bufbuild/protobuf";
import { ListPendingSnapshotsResponseSchema } from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { patient } from "@vidimus/kit/testing/patient";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import type { Reference } from "../domain/payload.ts";
import { startReconciler } from "./reconciler.ts";

interface Walked {
  readonly pending?: readonly string[];
  readonly ingest?: (references: readonly Reference[]) => Promise<void>;
  /** Documents whose snapshots are being ingested. */
  readonly inHand?: readonly string[];
}

/**
 * A reconciler that walks once an hour, and looks every 5 ms whether the broker is connected. Each
 * pending document has a page of its own.
 */
function open(
  bus: { number: number | undefined },
  { pending = [], ingest = async () => {}, inHand = [] }: Walked = {},
) {
  /** For each walk, whether it asked for all pending snapshots, including young ones. */
  const walks: boolean[] = [];
  const reconciler = startReconciler({
    feed: {
      listPendingSnapshots: async ({ committedBefore, pageToken }) => {
        const at = Number(pageToken);
        if (at === 0) walks.push(committedBefore === undefined);
        const references = pending.slice(at, at + 1).map((documentId) => {
          return { tenantId: "acme", documentId, sequence: 1n };
        });
        const nextPageToken = at + 1 < pending.length ? String(at + 1) : "";
        return create(ListPendingSnapshotsResponseSchema, { references, nextPageToken });
      },
    },
    ingest: { ingest, isInHand: ({ documentId }) => inHand.includes(documentId) },
    isPreferredFor: () => true,
    bus: { connectionNumber: () => bus.number },
    log: pino({ level: "silent" }),
    intervalMs: 3_600_000,
    aloneMs: 5,
    overdueMs: Number.POSITIVE_INFINITY,
  });
  return { walks, reconciler };
}

test("a new broker connection starts a walk over all pending snapshots before the interval ends", async () => {
  const bus: { number: number | undefined } = { number: 1 };
  const { walks, reconciler } = open(bus);
  await vi.waitFor(() => expect(walks).toEqual([true]), patient);
  bus.number = 2;
  await vi.waitFor(() => expect(walks).toEqual([true, true]), patient);
  await reconciler[Symbol.asyncDispose]();
  expect(walks).toEqual([true, true]);
});

test("all pending snapshots are walked over repeatedly while there is no broker", async () => {
  const { walks, reconciler } = open({ number: undefined });
  await vi.waitFor(() => expect(walks.length).toBeGreaterThan(2), patient);
  await reconciler[Symbol.asyncDispose]();
  expect(walks).not.toContain(false);
});

test("all pending snapshots are walked over once more when there is a broker again", async () => {
  const bus: { number: number | undefined } = { number: undefined };
  const { walks, reconciler } = open(bus);
  await vi.waitFor(() => expect(walks.length).toBeGreaterThan(0), patient);
  bus.number = 1;
  const before = walks.length;
  await vi.waitFor(() => expect(walks.length).toBeGreaterThan(before), patient);
  await reconciler[Symbol.asyncDispose]();
  expect(walks.slice(before)).toEqual([true]);
});

test("pages whose ingest fails do not end the walk: all other pages are ingested", async () => {
  const pending = Array.from({ length: 12 }, (_, n) => `d${n}`);
  const broken = new Set(["d0", "d5", "d6"]);
  const taken: string[] = [];
  const ingest = async (references: readonly Reference[]) => {
    const names = references.map(({ documentId }) => documentId);
    if (names.some((name) => broken.has(name))) throw new Error("documents cannot read it");
    taken.push(...names);
  };
  const { walks, reconciler } = open({ number: 1 }, { pending, ingest });
  await vi.waitFor(() => expect(taken).toEqual(pending.filter((each) => !broken.has(each))), patient);
  await reconciler[Symbol.asyncDispose]();
  expect(walks).toEqual([true]);
});

test("a walk skips snapshots that are being ingested", async () => {
  const taken: string[] = [];
  const ingest = async (references: readonly Reference[]) =>
    void taken.push(...references.map(({ documentId }) => documentId));
  const { reconciler } = open({ number: 1 }, { pending: ["one", "two", "three"], ingest, inHand: ["two"] });
  await vi.waitFor(() => expect(taken).toContain("three"), patient);
  await reconciler[Symbol.asyncDispose]();
  expect(taken).toEqual(["one", "three"]);
});
