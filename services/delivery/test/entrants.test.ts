import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { expect, inject, test } from "vitest";
import { type Endpoint, eventsByDefault } from "../src/domain/endpoint.ts";
import type { FeedSnapshot } from "../src/domain/payload.ts";
import { storeDeliveries } from "../src/ingest/store-deliveries.ts";
import type { LeasedLane } from "../src/store/delivery-rows.ts";
import { deliveryDatabaseVersion } from "../src/store/delivery-database-version.ts";
import { openStores } from "../src/store/open-stores.ts";
import { testKek } from "./support/world.ts";

const secrets = [new Uint8Array(32)] as const;
const settings = { url: "https://e1.example/", secrets, enabled: true, headers: {}, maxInFlight: 32 };
const endpoint: Endpoint = {
  tenantId: "acme",
  endpointId: "e1",
  createdAt: new Date(),
  events: eventsByDefault,
  ...settings,
};

function snapshotOf(documentId: string, sequence: number): FeedSnapshot {
  const [bytes, committedAt] = [Buffer.from("{}"), new Date()];
  const names = { tenantId: "acme", documentId, sequence, version: sequence, documentType: "core/article" };
  const content = { status: "usable", bytes, sha256: bytes, attestation: bytes, isSound: true };
  return { ...names, ...content, committedAt, isPending: true, olderPending: [] };
}

/** A database, and ingest of a process that has nothing in hand. */
async function openIngest() {
  const mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName("entrants"), appName: "test" });
  await ensureIndexes(mongo.db, deliveryDatabaseVersion.indexes);
  const stores = openStores(mongo.db, { kek: testKek });
  const taken: LeasedLane[] = [];
  const sender = {
    reserve: async () => ({ of: () => 9, takeBody: () => true, [Symbol.dispose]: () => {} }),
    isInHand: () => false,
    take: (lanes: readonly LeasedLane[]) => void taken.push(...lanes),
    wake: () => {},
  };
  return {
    stores,
    /** Stores snapshots. @returns what is sent without a claim: documents and sequences */
    async ingest(...snapshots: FeedSnapshot[]) {
      taken.length = 0;
      const deps = { ...stores, sender, leaseMs: 20_000 };
      const toStore = { snapshots, endpoints: [endpoint], mayWait: false };
      await (await storeDeliveries(deps, toStore, Promise.resolve())).send([]);
      return taken.map(rowsOf);
    },
    async [Symbol.asyncDispose]() {
      await mongo.db.dropDatabase();
      await mongo[Symbol.asyncDispose]();
    },
  };
}

function rowsOf({ state }: LeasedLane): string {
  return state.rows.map(({ documentId, sequence }) => `${documentId}${sequence}`).join(" ");
}

test("a row stored just after its lane's bearer was delivered is not sent before the lane's older rows", async () => {
  await using opened = await openIngest();
  const { stores, ingest } = opened;
  expect(await ingest(snapshotOf("a", 1), snapshotOf("a", 2), snapshotOf("b", 1))).toEqual(["a1 a2", "b1"]);
  const leaseUntil = new Date(Date.now() + 60_000);
  const [lane] = await stores.lanes.claim({ endpointId: "e1", dueBy: leaseUntil, limit: 1 }, leaseUntil);
  const outcome = { startedAt: new Date(), tookMs: 1, status: 204 };
  // The process dies before it has appointed the next bearer.
  const noteAccepted = () => stores.journal.noteAccepted(lane!.state.rows[0]!, outcome);
  expect([await noteAccepted(), await noteAccepted()]).toEqual([true, false]);
  expect(await ingest(snapshotOf("a", 3), snapshotOf("c", 3))).toEqual(["c3"]);
  const scope = { endpointId: "e1", dueBy: new Date(), limit: 9 };
  const claimed = await stores.lanes.claim(scope, leaseUntil);
  expect(claimed.map(rowsOf)).toEqual(["a2 a3"]);
});
