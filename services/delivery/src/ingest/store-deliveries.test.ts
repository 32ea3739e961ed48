import { expect, test } from "vitest";
import { type Endpoint, eventsByDefault } from "../domain/endpoint.ts";
import type { FeedSnapshot } from "../domain/payload.ts";
import type { Arrival } from "../store/lane-store.ts";
import { storeDeliveries } from "./store-deliveries.ts";

const now = new Date();
const secrets = [new Uint8Array(32)] as const;
const settings = { url: "https://e1.example/", secrets, enabled: true, headers: {}, maxInFlight: 32 };
const endpoint: Endpoint = {
  tenantId: "acme",
  endpointId: "e1",
  createdAt: now,
  events: eventsByDefault,
  ...settings,
};
const bytes = Buffer.from("{}");
const sealed = { bytes, sha256: bytes, attestation: bytes, isSound: true, traceparent: undefined };
const snapshot: FeedSnapshot = {
  tenantId: "acme",
  documentId: "d",
  sequence: 2,
  documentType: "core/article",
  version: 1,
  status: "usable",
  committedAt: now,
  isPending: true,
  olderPending: [],
  ...sealed,
};

/**
 * Stores the snapshot's delivery with this standing, and returns before the snapshot is signed.
 * @returns the arrivals of which the lane was told
 */
async function store(standing: "behind" | "known"): Promise<Arrival[]> {
  const told: Arrival[] = [];
  const nothing = async () => {};
  const deps = {
    deliveries: { insert: async () => [standing], delete: nothing },
    laneEndings: { supersede: nothing },
    lanes: {
      expedite: async (arrivals: readonly Arrival[]) => void told.push(...arrivals),
      withOlder: async () => [],
      release: nothing,
      appointBearers: nothing,
    },
    sender: {
      reserve: async () => ({ of: () => 1, takeBody: () => true, [Symbol.dispose]: () => {} }),
      isInHand: () => true,
      take: () => {},
      wake: () => {},
    },
    leaseMs: 20_000,
  };
  await storeDeliveries(deps, { snapshots: [snapshot], endpoints: [endpoint], mayWait: true }, new Promise(() => {}));
  return told;
}

const { tenantId, documentId, sequence, committedAt } = snapshot;

test("a lane with a new row behind its bearer is expedited before the row's snapshot is signed", async () => {
  expect(await store("behind")).toMatchObject([{ tenantId, documentId, sequence }]);
});

test("a lane is expedited with a snapshot's commit time only if an earlier ingest stored its delivery", async () => {
  expect((await store("behind"))[0]!.knownSince).toBeUndefined();
  expect(await store("known")).toEqual([{ tenantId, documentId, endpointId: "e1", knownSince: committedAt }]);
});
