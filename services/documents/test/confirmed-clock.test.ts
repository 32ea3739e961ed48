/** What a reader gets who has seen more than a process knows, while no primary confirms it. */
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { type Mongo, openMongo } from "@vidimus/kit/mongo/mongo";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { ClockStore } from "../src/store/clock-store.ts";

/** Fail points apply only to connections of this name. */
const appName = "confirmed-clock-test";
let mongo: Mongo;
let clocks: ClockStore;

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName("confirmed"), appName });
  clocks = new ClockStore(mongo.client, mongo.db);
});
afterEach(() => failFinds({}, "off"));
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

function failFinds(fault: object, mode: { times: number } | "off") {
  const data = { failCommands: ["find"], appName, ...fault };
  return mongo.client.db("admin").command({ configureFailPoint: "failCommand", mode, data });
}

test("a confirmed clock has the tick and a moment to read at; a tenant that never published has none", async () => {
  const tick = new Date(5);
  await mongo.db.collection("clocks").insertOne({ tenantId: "acme", tick, types: { "core/article": tick } });
  const reading = await clocks.confirm("acme");
  expect(reading).toMatchObject({ tick, types: { "core/article": tick }, moment: expect.any(BigInt) });
  expect(clocks.recall("acme")).toEqual(reading);
  expect(await clocks.confirm("nobody")).toMatchObject({ types: {}, moment: expect.any(BigInt) });
});

test.each([
  ["a primary that steps down", { errorCode: 10107 }],
  ["a cut connection", { closeConnection: true }],
])("%s is asked a second time; twice in a row is unavailable, never an older page", async (_, fault) => {
  await failFinds(fault, { times: 1 });
  expect(await clocks.confirm("acme")).toHaveProperty("tick");
  await failFinds(fault, { times: 2 });
  await expect(clocks.confirm("acme")).rejects.toMatchObject({ kind: "unavailable" });
});

test("a primary that cannot reach a majority in time is unavailable", async () => {
  await failFinds({ errorCode: 50 }, { times: 1 });
  await expect(clocks.confirm("acme")).rejects.toMatchObject({
    kind: "unavailable",
    message: "no primary of the database confirms what is published; try again",
  });
});

test("readers who ask at once share a round", async () => {
  const asked = await Promise.all(Array.from({ length: 50 }, () => clocks.confirm("acme")));
  expect(new Set(asked).size).toBe(1);
});
