import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { type Mongo, openMongo } from "@vidimus/kit/mongo/mongo";
import { migrate } from "@vidimus/kit/mongo/database-version";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { documentsDatabaseVersion } from "../src/store/documents-database-version.ts";
import { shardKeys } from "../src/store/shard-keys.ts";
import { runDocuments } from "./support/running-documents.ts";

const { base } = documentsDatabaseVersion;
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
  const settings = { mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl"), database, migrate: "off" } as const;
  await (await runDocuments(settings))[Symbol.asyncDispose]();
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

test("migrate.ts without MONGODB_URL ends with exit code 78 and names the setting", async () => {
  await expect(runMigrate({ MONGODB_URL: "" })).rejects.toMatchObject({
    code: 78,
    stderr: "cannot start, the configuration has faults:\nMONGODB_URL is required\n",
  });
});

test("a service with migrations off starts only on a database that was migrated", async () => {
  await expect(start()).rejects.toThrow(`database ${database} is new: run src/migrate.ts --prepare`);
  const { stdout } = await runMigrate({ MONGODB_URL: inject("mongoUrl"), MONGODB_DATABASE: database });
  expect(stdout).toBe(`database ${database}: version 0 → ${base}\n`);
  await start();
});

test("eight migrations at once of a migrated database, and one more, change no index", async () => {
  const before = await indexes();
  await Promise.all(Array.from({ length: 8 }, () => migrate(mongo, documentsDatabaseVersion, "on")));
  expect(await migrate(mongo, documentsDatabaseVersion, "on")).toEqual({ from: base, to: base });
  expect(await indexes()).toEqual(before);
});

/** The indexes of all collections of tenants, without those that MongoDB makes of `_id`. */
async function tenantIndexes() {
  const all = await indexes();
  all.delete("database_version");
  return [...all].flatMap(([name, own]) =>
    own
      .map(({ key, unique = false }) => ({ name, unique, columns: Object.keys(key) }))
      .filter(({ columns }) => columns.join() !== "_id"),
  );
}

test("every collection that a migration makes, but for database_version, has a shard key", async () => {
  const names = [...(await indexes()).keys()].filter((name) => name !== "database_version");
  expect(new Set(Object.keys(shardKeys))).toEqual(new Set(names.filter((name) => !name.startsWith("system."))));
});

test("every unique index starts with the shard key of its collection", async () => {
  const all = (await tenantIndexes()).filter(({ unique }) => unique);
  expect(all.length).toBeGreaterThan(0);
  for (const { name, columns } of all) {
    const shardKey = shardKeys[name]!;
    expect([name, columns.slice(0, shardKey.length)]).toEqual([name, shardKey]);
  }
});

test("every index that is not unique starts with the tenant, except those of pending snapshots", async () => {
  const all = (await tenantIndexes()).filter(({ unique }) => !unique);
  expect(all.length).toBeGreaterThan(0);
  for (const { name, columns } of all) {
    // Delivery walks through the pending snapshots of all tenants.
    if (name === "snapshots" && columns[0] === "pending") continue;
    expect([name, columns[0]]).toEqual([name, "tenantId"]);
  }
});
