import type { ListKeysResponse } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { patient } from "@vidimus/kit/testing/patient";
import { Collection, MongoClient } from "mongodb";
import { Registry } from "prom-client";
import { afterAll, expect, inject, onTestFinished, test, vi } from "vitest";
import { TrustListStore } from "../src/store/trust-list-store.ts";
import { TrustList } from "../src/trust/trust-list.ts";

const client = new MongoClient(inject("mongoUrl"));
afterAll(() => client.close());

/**
 * A process of delivery. Its signing states a list of one key, which is named after the revision.
 */
async function openProcess(database: string, revision: number) {
  const signing = { revision };
  const alarms: object[] = [];
  const registry = new Registry();
  const trust = {
    listKeys: async () => {
      const keys = [{ keyId: `key-${signing.revision}` }];
      return { revision: BigInt(signing.revision), keys } as ListKeysResponse;
    },
  };
  const log = { warn: () => {}, error: (fields: object) => void alarms.push(fields) };
  const trustLists = new TrustListStore(client.db(database));
  const list = await TrustList.open({ trust, trustLists, log, registry, trustListMs: 20 });
  return { list, signing, alarms, registry, [Symbol.asyncDispose]: () => list[Symbol.asyncDispose]() };
}

test("while signing states an older list than another process has read, signatures are refused", async () => {
  const database = testDatabaseName("delivery");
  await using one = await openProcess(database, 4);
  await vi.waitFor(() => expect(one.list.isListed("key-4")).toBe(true), patient);
  await using two = await openProcess(database, 5);
  await vi.waitFor(() => expect(two.list.isListed("key-5")).toBe(true), patient);
  two.signing.revision = 4;
  await vi.waitFor(() => expect(one.list.isListed("key-5")).toBe(true), patient);
  expect(one.list.isListed("key-4")).toBe(false);
  await vi.waitFor(() => expect(one.alarms).toContainEqual({ alarm: "trust_list", revision: 4, newest: 5 }), patient);
  await expect(one.list.require(["key-5"])).rejects.toThrow("revision 4 is stated, after 5 was");
  expect(await one.registry.metrics()).toMatch(/^vidimus_trust_list_older_total [1-9]/m);
  one.signing.revision = 6;
  await expect(one.list.require(["key-6"])).resolves.toBeUndefined();
});

test("a list replaces an older one only", async () => {
  const trustLists = new TrustListStore(client.db(testDatabaseName("delivery")));
  const kept = { revision: 5, keyIds: ["a", "b"], everListed: ["a", "b"] };
  expect(await trustLists.keep({ revision: 5, keyIds: ["a", "b"] })).toMatchObject(kept);
  for (const revision of [4, 5]) expect(await trustLists.keep({ revision, keyIds: ["c"] })).toMatchObject(kept);
  expect(await trustLists.keep({ revision: 6, keyIds: ["b"] })).toMatchObject({ revision: 6, keyIds: ["b"] });
});

test("a new list keeps the ids of all keys that were ever listed", async () => {
  const trustLists = new TrustListStore(client.db(testDatabaseName("delivery")));
  await trustLists.keep({ revision: 5, keyIds: ["a", "b"] });
  const replaced = await trustLists.keep({ revision: 6, keyIds: ["b", "c"] });
  expect(replaced).toMatchObject({ keyIds: ["b", "c"], everListed: ["a", "b", "c"] });
});

test("a list is stored although another process inserts an older one just before it", async () => {
  const db = client.db(testDatabaseName("delivery"));
  const trustLists = new TrustListStore(db);
  const update = vi.spyOn(Collection.prototype, "findOneAndUpdate").mockImplementationOnce(async () => {
    await trustLists.keep({ revision: 3, keyIds: ["a"] });
    // Fails as an upsert does that found no row, and then one with its id.
    await db.collection<{ _id: string }>("trust_list").insertOne({ _id: "trust_list" });
  });
  onTestFinished(() => update.mockRestore());
  const kept = { revision: 4, keyIds: ["b"], everListed: ["a", "b"] };
  expect(await trustLists.keep({ revision: 4, keyIds: ["b"] })).toMatchObject(kept);
  expect((await trustLists.read())?.copy).toMatchObject(kept);
});
