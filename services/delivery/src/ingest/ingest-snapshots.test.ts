import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  GetSnapshotsResponseSchema,
  SettleSnapshotsResponseSchema,
} from "@vidimus/contracts/vidimus/documents/v1/snapshot_feed_service";
import { SignSnapshotsResponseSchema } from "@vidimus/contracts/vidimus/signing/v1/signing_service";
import { patient } from "@vidimus/kit/testing/patient";
import { hash } from "node:crypto";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { eventsByDefault, type ManagedEndpoint } from "../domain/endpoint.ts";
import { olderPendingMax, type Reference } from "../domain/payload.ts";
import type { NewDelivery } from "../store/delivery-rows.ts";
import { Ingest, type IngestDeps } from "./ingest-snapshots.ts";

const now = new Date();
const snapshotJson = Buffer.from("{}");
const sha256 = hash("sha256", snapshotJson, "buffer");
const sealed = { documentType: "core/article", version: 1n, status: "usable", snapshotJson, sha256, pending: true };

function endpointOf(tenantId: string): ManagedEndpoint {
  const settings = { secrets: [Buffer.alloc(32)] as const, headers: {}, enabled: true, maxInFlight: 32 };
  const names = { tenantId, endpointId: tenantId, url: `https://${tenantId}.example/` };
  const managed = { createdAt: now, updatedAt: now, name: "", description: "", notices: [], revision: 1 };
  return { ...names, ...settings, ...managed, events: eventsByDefault };
}

function referencesOf(tenantId: string, count: number) {
  return Array.from({ length: count }, (_, n) => ({ tenantId, documentId: `${tenantId}-${n}`, sequence: 1 }));
}

/**
 * An ingest. Batches that wait for capacity at the endpoint of a `full` tenant get it when the test
 * calls `freeCapacity`. The documents service lists, as older pending snapshots of a document,
 * those that were given to `commit` and are not settled.
 */
function openIngest(full: ReadonlySet<string> = new Set()) {
  const capacity = Promise.withResolvers<void>();
  const stored: NewDelivery[] = [];
  const pending = new Map<string, Set<bigint>>();
  const pendingOf = (documentId: string) => pending.get(documentId) ?? new Set();
  const counts = { calls: 0, read: 0, waiting: 0 };
  const nothing = async () => {};
  const deps: IngestDeps = {
    feed: {
      getSnapshots: async ({ references = [] }) => {
        counts.calls += 1;
        counts.read += references.length;
        const committedAt = timestampFromDate(now);
        const snapshots = references.map((reference) => {
          const { documentId = "", sequence = 0n } = reference;
          const older = [...pendingOf(documentId)].filter((each) => each < sequence);
          return Object.assign({ reference, committedAt, olderPending: older.slice(0, olderPendingMax) }, sealed);
        });
        return create(GetSnapshotsResponseSchema, { snapshots });
      },
      settleSnapshots: async ({ settlements = [] }) => {
        for (const { reference } of settlements) {
          pendingOf(reference?.documentId ?? "").delete(reference?.sequence ?? 0n);
        }
        return create(SettleSnapshotsResponseSchema);
      },
    },
    signing: {
      signSnapshots: async ({ items = [] }) => {
        const value = { keyId: "k", statement: "s", value: Buffer.alloc(64), signingNumber: 1 };
        const results = items.map(() => ({ outcome: { case: "signature" as const, value } }));
        return create(SignSnapshotsResponseSchema, { results });
      },
    },
    directory: { listOf: async (tenants) => tenants.map(endpointOf) },
    deliveries: {
      insert: async (deliveries: readonly NewDelivery[]) => {
        stored.push(...deliveries);
        return deliveries.map(({ standing }) => standing);
      },
      delete: nothing,
    },
    laneEndings: { supersede: nothing },
    lanes: { withOlder: async () => [], expedite: nothing, release: nothing, appointBearers: nothing },
    sender: {
      reserve: async (wanted, mayWait) => {
        if (mayWait && [...wanted.keys()].some(({ tenantId }) => full.has(tenantId))) {
          counts.waiting += 1;
          await capacity.promise;
        }
        return { of: () => 1_000, takeBody: () => true, [Symbol.dispose]: () => {} };
      },
      isInHand: () => false,
      take: () => {},
      wake: () => {},
    },
    leaseMs: 20_000,
    noteSignedAnew: nothing,
    log: pino({ level: "silent" }),
  };
  const ingest = new Ingest(deps, new AbortController().signal);
  const storedOf = (tenantId: string) => stored.filter((each) => each.tenantId === tenantId).length;
  const commit = ({ documentId, sequence }: Reference) =>
    void pending.set(documentId, pendingOf(documentId).add(BigInt(sequence)));
  return { ingest, counts, stored, storedOf, commit, freeCapacity: capacity.resolve };
}

it("ingests other tenants' snapshots while the burst of one tenant waits for capacity", async () => {
  const { ingest, counts, storedOf, freeCapacity } = openIngest(new Set(["burst"]));
  const burst = ingest.ingest(referencesOf("burst", 2_000));
  await vi.waitFor(() => expect(counts.waiting).toBe(3), patient);
  await ingest.ingest(referencesOf("single", 1));
  await ingest.ingest(referencesOf("another", 1_000));
  expect([storedOf("single"), storedOf("another"), counts.waiting]).toEqual([1, 1_000, 3]);
  const before = storedOf("burst");
  expect(before).toBeLessThanOrEqual(256);
  freeCapacity();
  await burst;
  expect(storedOf("burst")).toBe(2_000);
});

it("ingests a burst of 2,560 snapshots in ten full batches", async () => {
  const { ingest, counts, storedOf } = openIngest();
  await ingest.ingest(referencesOf("burst", 10 * 256));
  expect([storedOf("burst"), counts.calls]).toEqual([10 * 256, 10]);
});

it("reads at most 6,000 snapshots to store 3,000 of one document in order", async () => {
  const { ingest, counts, stored, commit } = openIngest();
  const references = Array.from({ length: 3_000 }, (_, n) => {
    return { tenantId: "acme", documentId: "deep", sequence: n + 1 };
  });
  for (const each of references) commit(each);
  await ingest.ingest(references);
  expect(stored.map(({ sequence }) => sequence)).toEqual(references.map(({ sequence }) => sequence));
  expect(counts.read).toBeLessThanOrEqual(2 * references.length);
});

it("stores a document's snapshots in order when newer ones are announced first, and some never", async () => {
  const { ingest, stored, commit } = openIngest();
  const references = [1, 2, 3, 4, 5].map((sequence) => ({ tenantId: "acme", documentId: "late", sequence }));
  for (const each of references) commit(each);
  await Promise.all([ingest.ingest(references.slice(3)), ingest.ingest(references.slice(1, 2))]);
  expect(stored.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
});
