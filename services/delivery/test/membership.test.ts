import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, inject, it } from "vitest";
import { Membership } from "../src/replicas/membership.ts";
import { ReplicaStore } from "../src/store/replica-store.ts";

const database = testDatabaseName("membership");
const partitions = Array.from({ length: 64 }, (_, partition) => partition);
let mongo: Awaited<ReturnType<typeof openMongo>>;
let replicas: ReplicaStore;

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "membership-test" });
  replicas = new ReplicaStore(mongo.db);
});
beforeEach(async () => void (await mongo.db.collection("replicas").deleteMany({})));
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

/**
 * How many partitions a replica at `address` is preferred for when it joins just after the one at
 * `killed` was killed. Without an address a replica has no fixed port.
 */
async function preferredBeside(killed: string | undefined, address: string | undefined): Promise<number> {
  await replicas.join("killed", killed);
  const log = pino({ level: "silent" });
  await using membership = await Membership.join({ replicas, replica: "new", address, log });
  return partitions.filter((partition) => membership.isPreferredForPartition(partition)).length;
}

it("a replica that joins at the address of a killed one is at once preferred for all partitions", async () => {
  expect(await preferredBeside("pod-1:9090", "pod-1:9090")).toBe(64);
});

it.each([
  ["another address", "pod-1:9090", "pod-2:9090"],
  ["no fixed address", undefined, "pod-1:9090"],
])("a replica that joins shares the partitions with a killed one that has %s", async (_, killed, address) => {
  const count = await preferredBeside(killed, address);
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThan(64);
});

it("two replicas without a fixed address share the partitions", async () => {
  const count = await preferredBeside(undefined, undefined);
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThan(64);
});
