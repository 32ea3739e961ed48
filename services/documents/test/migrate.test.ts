import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { type Mongo, openMongo } from "@vidimus/kit/mongo/mongo";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { startDocuments } from "../src/documents.ts";
import { migrate } from "../src/store/migrate.ts";
import { preparedVersion, schemaVersion } from "../src/store/rollout.ts";
import { shardKeys } from "../src/store/shard-keys.ts";

const database = testDatabaseName("migrate");
let mongo: Mongo;

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "migrate-test" });
});

afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

async function start() {
  const config = { MONGODB_URL: inject("mongoUrl"), MONGODB_DATABASE: database, NATS_URL: inject("natsUrl") };
  const ports = { GRPC_PORT: "0", MESH_PORT: "0", OPS_PORT: "0", LOG_LEVEL: "silent" };
  const service = await startDocuments(readConfig({ ...config, ...ports, ACCESS_TARGET: "off", MIGRATE: "off" }));
  await service[Symbol.asyncDispose]();
}

async function indexes(): Promise<Map<string, { key: Record<string, number>; unique?: boolean }[]>> {
  const collections = await mongo.db.listCollections({}, { nameOnly: true }).toArray();
  const found = collections.map(async ({ name }) => [name, await mongo.db.collection(name).indexes()] as const);
  return new Map(await Promise.all(found)) as never;
}

function runMigrate(settings: Readonly<Record<string, string>>) {
  const main = new URL("../src/migrate.ts", import.meta.url).pathname;
  return promisify(execFile)(process.execPath, [main], { env: { ...process.env, ...settings } });
}

test("npm run migrate without a database ends with 78 and names the setting", async () => {
  await expect(runMigrate({ MONGODB_URL: "" })).rejects.toMatchObject({
    code: 78,
    stderr: "cannot start, the configuration has faults:\nMONGODB_URL is required\n",
  });
});

test("a service told not to migrate refuses a database that was not, and takes one that was", async () => {
  await expect(start()).rejects.toThrow(`is at version 0, but ${preparedVersion} is needed`);
  const { stdout } = await runMigrate({ MONGODB_URL: inject("mongoUrl"), MONGODB_DATABASE: database });
  expect(stdout).toBe(`database ${database}: version 0 → ${schemaVersion}\n`);
  await start();
});

test("eight migrations at once, and one more, change nothing", async () => {
  const before = await indexes();
  await Promise.all(Array.from({ length: 8 }, () => migrate(mongo)));
  expect(await migrate(mongo)).toBe(schemaVersion);
  expect(await indexes()).toEqual(before);
});

test("every collection has a shard key, every unique index starts with it, and every other with the tenant", async () => {
  const all = await indexes();
  all.delete("migrations");
  expect(new Set(Object.keys(shardKeys))).toEqual(
    new Set([...all.keys()].filter((name) => !name.startsWith("system."))),
  );
  for (const [name, own] of all) {
    for (const { key, unique } of own.filter(({ key }) => !Object.hasOwn(key, "_id") || Object.keys(key).length > 1)) {
      const columns = Object.keys(key);
      const shardKey = shardKeys[name]!;
      // The reconciler's walk goes through the pending snapshots of all tenants.
      if (name === "snapshots" && columns[0] === "pending" && !unique) continue;
      if (unique) expect([name, columns.slice(0, shardKey.length)]).toEqual([name, shardKey]);
      else expect([name, columns[0]]).toEqual([name, "tenantId"]);
    }
  }
});

test("what was pending in the outbox of version 1 is pending afterwards, and what was acknowledged since stays so", async () => {
  const old = await openMongo({
    url: inject("mongoUrl"),
    database: testDatabaseName("migrate-1"),
    appName: "migrate-test",
  });
  await using stack = new AsyncDisposableStack();
  stack.use(old);
  stack.defer(async () => void (await old.db.dropDatabase()));
  const key = { tenantId: "acme", documentId: "a" };
  const snapshots = old.db.collection("snapshots");
  await snapshots.insertMany([1, 2].map((sequence) => Object.assign({ sequence }, key)));
  await old.db.collection("outbox").insertOne({ ...key, sequence: 1, committedAt: new Date() });
  await old.db.collection<{ _id: number }>("migrations").insertOne({ _id: 1 });
  expect(await migrate(old)).toBe(1);
  const pending = () => snapshots.distinct("sequence", { pending: true });
  expect(await pending()).toEqual([1]);
  await snapshots.updateMany({}, { $unset: { pending: true } });
  expect(await migrate(old)).toBe(schemaVersion);
  expect(await pending()).toEqual([]);
});
