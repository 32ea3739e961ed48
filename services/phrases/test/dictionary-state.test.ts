import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { type Mongo, openMongo } from "@vidimus/kit/mongo/mongo";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { DictionaryState } from "../src/store/dictionary-state.ts";
import type { DictionaryRow } from "../src/store/rows.ts";

let mongo: Mongo;
let state: DictionaryState;

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName("dictionaries"), appName: "test" });
  state = new DictionaryState(mongo.db);
});

afterAll(() => mongo[Symbol.asyncDispose]());

test("a change that ends without a write leaves the revision as it is", async () => {
  await state.change("untouched").end();
  expect(await state.revision("untouched")).toBe("0");
  const change = state.change("untouched");
  await change.begin();
  await change.end();
  const before = await state.revision("untouched");
  await state.change("untouched").end();
  expect(await state.revision("untouched")).toBe(before);
});

test("a dictionary has no revision during a change", async () => {
  const change = state.change("demo");
  await change.begin();
  expect(await state.revision("demo")).toBeUndefined();
  await change.begin();
  expect(await state.revision("demo")).toBeUndefined();
  await change.end();
});

test("a dictionary has another revision after each change", async () => {
  const revisionAfterChange = async () => {
    const change = state.change("changed");
    await change.begin();
    await change.end();
    return await state.revision("changed");
  };
  const first = await revisionAfterChange();
  const second = await revisionAfterChange();
  for (const revision of [first, second]) expect(revision).toMatch(/^[\w-]{36}$/);
  expect(second).not.toBe(first);
});

test("during two concurrent changes there is no revision until both have ended", async () => {
  const [one, two] = [state.change("two"), state.change("two")];
  await Promise.all([one.begin(), two.begin()]);
  await one.end();
  expect(await state.revision("two")).toBeUndefined();
  await two.end();
  expect(await state.revision("two")).toBeDefined();
});

test("a change whose process died ends after three minutes, with a new revision", async () => {
  const change = state.change("dead");
  await change.begin();
  await change.end();
  const before = await state.revision("dead");
  await state.change("dead").begin();
  const rows = mongo.db.collection<DictionaryRow>("dictionaries");
  const age = async (ms: number) => {
    await rows.updateOne({ _id: "dead" }, { $set: { "changes.0.since": new Date(Date.now() - ms) } });
  };
  await age(170_000);
  expect(await state.revision("dead")).toBeUndefined();
  expect(await state.revision("dead")).toBeUndefined();
  await age(190_000);
  expect(await state.revision("dead")).toBeUndefined();
  const after = await state.revision("dead");
  expect(after).toBeDefined();
  expect(after).not.toBe(before);
});
