import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { Collection, MongoClient } from "mongodb";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { TrustListStore } from "../src/store/trust-list-store.ts";

const listOf = (revision: number) => ({ revision, body: "{}", statement: "s", signature: String(revision) });

test("a list prevails over an older list inserted at the same time, and over an older list stored later", async () => {
  await using client = await new MongoClient(inject("mongoUrl")).connect();
  const db = client.db(testDatabaseName("access"));
  const store = new TrustListStore(db);
  const update = vi.spyOn(Collection.prototype, "updateOne").mockImplementationOnce(async () => {
    await store.keep(listOf(3));
    // A duplicate id, as when a row is inserted after the upsert has found none.
    await db.collection<{ _id: string }>("trust_list").insertOne({ _id: "trust_list" });
    return undefined as never;
  });
  onTestFinished(() => update.mockRestore());
  expect(await store.keep(listOf(4))).toEqual(listOf(4));
  expect((await store.read())?.copy).toEqual(listOf(4));
  expect(await store.keep(listOf(2))).toEqual(listOf(4));
});
