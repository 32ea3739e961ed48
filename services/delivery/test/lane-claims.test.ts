import { profiled } from "@vidimus/devstack/testing/profile";
import { failCommands } from "@vidimus/devstack/testing/fail-commands";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { expect, inject, test } from "vitest";
import { deliveryIndexes, deliveryRows } from "../src/store/delivery-indexes.ts";
import { DeliveryStore } from "../src/store/delivery-store.ts";
import type { NewDelivery } from "../src/store/delivery-rows.ts";
import { LaneStore } from "../src/store/lane-store.ts";

/** The fail point applies only to connections of this name. */
const appName = "lane-claims-test";

async function openLanes(name: string) {
  const mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName(name), appName });
  const deliveries = new DeliveryStore(deliveryRows(mongo.db), "test");
  await ensureIndexes(mongo.db, { deliveries: deliveryIndexes });
  const close = async () => {
    await mongo.db.dropDatabase();
    await mongo[Symbol.asyncDispose]();
  };
  return { mongo, deliveries, lanes: new LaneStore(deliveryRows(mongo.db), "test"), [Symbol.asyncDispose]: close };
}

const createdAt = new Date(Date.now() - 1_000);

function rowOf(
  documentId: string,
  sequence: number,
  standing: NewDelivery["standing"],
  signingNumber = 1,
): NewDelivery {
  const deliveryId = `${documentId}-${sequence}-${signingNumber}`;
  const names = { tenantId: "acme", endpointId: "e1", documentId, deliveryId, webhookId: deliveryId };
  return { ...names, sequence, signingNumber, createdAt, bodyBytes: 2_000, standing };
}

test("lanes that were leased and could not be loaded are due at once, not when their leases end", async () => {
  await using opened = await openLanes("claims");
  const { deliveries, lanes } = opened;
  const rows = ["a", "b", "c"].map((documentId) => rowOf(documentId, 1, "due"));
  await deliveries.insert(rows, createdAt);
  // The first find reads the due bearers, the second one the rows behind them.
  const failingFinds = { failCommands: ["find"], errorCode: 2, appName };
  await using fault = await failCommands(inject("mongoUrl"), failingFinds, { skip: 1 });
  const scope = { endpointId: "e1", dueBy: new Date(), limit: 256 };
  const hourLater = () => new Date(Date.now() + 3_600_000);
  await expect(lanes.claim(scope, hourLater())).rejects.toThrow("failCommand");
  await fault.end();
  const claimed = await lanes.claim({ ...scope, dueBy: new Date() }, hourLater());
  expect(claimed.map(({ bearer }) => bearer.deliveryId).toSorted()).toEqual(["a-1-1", "b-1-1", "c-1-1"]);
});

test("a probe claims the lane that is due first of those whose bearers the caller does not exclude", async () => {
  await using opened = await openLanes("probes");
  const { mongo, deliveries, lanes } = opened;
  await deliveries.insert([rowOf("a", 1, "due"), rowOf("b", 1, "due")], createdAt);
  const inAnHour = new Date(Date.now() + 3_600_000);
  await deliveryRows(mongo.db).updateOne({ documentId: "b" }, { $set: { nextAttemptAt: inAnHour } });
  const probe = async (without: readonly string[]) => {
    const [probed] = await lanes.claim({ endpointId: "e1", limit: 1, without }, inAnHour);
    return probed!;
  };
  const next = await probe([]);
  expect(next.bearer.deliveryId).toBe("a-1-1");
  await lanes.release([next], new Date());
  expect((await probe(["a-1-1"])).bearer.deliveryId).toBe("b-1-1");
});

test("making the oldest of a lane's 501 rows its bearer takes a read of 16 rows at most", async () => {
  await using opened = await openLanes("bearers");
  const { mongo, deliveries, lanes } = opened;
  const behind = Array.from({ length: 500 }, (_, n) => rowOf("a", n + 1, "behind"));
  await deliveries.insert([rowOf("a", 1, "behind", 2), ...behind], createdAt);
  const appoint = () => lanes.appointBearers(behind.slice(0, 2), new Date());
  const { entries } = await profiled(mongo.db, { "command.find": "deliveries" }, appoint);
  expect(entries[0]!["docsExamined"]).toBeLessThanOrEqual(16);
  const scope = { endpointId: "e1", dueBy: new Date(), limit: 256 };
  const claimed = await lanes.claim(scope, new Date(Date.now() + 3_600_000));
  expect(claimed.map(({ bearer }) => bearer.deliveryId)).toEqual(["a-1-1"]);
});

test("a lane without a bearer gets its oldest row as bearer, although younger rows were stored before it", async () => {
  await using opened = await openLanes("missing");
  const { deliveries, lanes } = opened;
  await deliveries.insert([rowOf("a", 3, "behind")], createdAt);
  for (const signingNumber of [2, 3, 1]) await deliveries.insert([rowOf("a", 2, "behind", signingNumber)], createdAt);
  await deliveries.insert([rowOf("b", 1, "due"), rowOf("b", 2, "behind")], createdAt);
  expect(await lanes.appointMissingBearers(new Date())).toBe(1);
  const scope = { endpointId: "e1", dueBy: new Date(), limit: 256 };
  const claimed = await lanes.claim(scope, new Date(Date.now() + 3_600_000));
  expect(claimed.map(({ bearer }) => bearer.deliveryId).toSorted()).toEqual(["a-2-1", "b-1-1"]);
  expect(await lanes.appointMissingBearers(new Date())).toBe(0);
});

/**
 * Claims lanes of these lengths. @returns the sequences of each lane, and the finds of the claim
 */
async function claimOf(name: string, depths: readonly number[]) {
  await using opened = await openLanes(name);
  const { mongo, deliveries, lanes } = opened;
  const nameOf = (n: number) => `d${String(n).padStart(3, "0")}`;
  const rows = depths.flatMap((depth, lane) =>
    Array.from({ length: depth }, (_, n) => rowOf(nameOf(lane), n + 1, n === 0 ? "due" : "behind")),
  );
  await deliveries.insert(rows, createdAt);
  const scope = { endpointId: "e1", dueBy: new Date(), limit: 256 };
  const claim = () => lanes.claim(scope, new Date(Date.now() + 3_600_000));
  const { result: claimed, entries: finds } = await profiled(mongo.db, { "command.find": "deliveries" }, claim);
  const sequences = new Map(
    claimed.map(({ state }) => [state.rows[0]!.documentId, state.rows.map(({ sequence }) => sequence)]),
  );
  return { sequences: depths.map((_, lane) => sequences.get(nameOf(lane))), finds: finds.length };
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test("a claim of 120 lanes reads all their rows with three finds", async () => {
  const depths = Array.from({ length: 120 }, (_, n) => 1 + (n % 24));
  const { sequences, finds } = await claimOf("many", depths);
  expect(sequences).toEqual(depths.map(upTo));
  // One find for the due bearers, and two for the pages of rows behind them. With a find for each
  // lane there would be more than 120.
  expect(finds).toBe(3);
});

test("a claim returns the oldest 100 rows and the newest two of a lane of 1,200", async () => {
  const { sequences } = await claimOf("long", [3, 1_200, 3]);
  expect(sequences).toEqual([upTo(3), [...upTo(100), 1_199, 1_200], upTo(3)]);
});
