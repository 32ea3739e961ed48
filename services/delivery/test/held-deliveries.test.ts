import { profiled } from "@vidimus/devstack/testing/profile";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { deliveryIndexes, deliveryRows } from "../src/store/delivery-indexes.ts";
import { heldDeliveries } from "../src/store/held-deliveries.ts";

let mongo: Awaited<ReturnType<typeof openMongo>>;
const rows = () => mongo.db.collection("deliveries");
const oldest = Date.parse("2026-11-01T00:00:00.000Z");

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName("held"), appName: "held-test" });
  await ensureIndexes(mongo.db, { deliveries: deliveryIndexes });
  await rows().insertMany(
    Array.from({ length: 12_000 }, (_, n) => {
      const state = n % 20 === 0 ? "delivered" : "pending";
      return { tenantId: "acme", endpointId: "e1", sequence: n, state, createdAt: new Date(oldest + n * 1_000) };
    }),
  );
});
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

const held = () => heldDeliveries(deliveryRows(mongo.db), "acme", "e1", { maxTimeMS: 5_000 });

it("counting more than 10,000 held deliveries reads 10,001 index entries and no row", async () => {
  const { result: found, entries } = await profiled(mongo.db, { ns: /deliveries$/ }, held);
  expect(found).toEqual({ count: 10_000, hasMore: true, oldestAt: new Date(oldest + 1_000) });
  expect(entries.map((each) => Number(each["docsExamined"]))).toEqual([0, 0]);
  expect(entries.map((each) => Number(each["keysExamined"])).toSorted((a, b) => a - b)).toEqual([1, 10_001]);
});

it("fewer than 10,000 held deliveries are counted exactly", async () => {
  await rows().deleteMany({ sequence: { $gte: 5_000 } });
  expect(await held()).toEqual({ count: 4_750, hasMore: false, oldestAt: new Date(oldest + 1_000) });
  await rows().deleteMany({});
  expect(await held()).toEqual({ count: 0, hasMore: false });
});
