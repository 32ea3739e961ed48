/** The confirmed read of the clock, for readers who have seen more than the process knows. */
import { failCommands } from "@vidimus/devstack/testing/fail-commands";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { profiled } from "@vidimus/devstack/testing/profile";
import { type Mongo, openMongo } from "@vidimus/kit/mongo/mongo";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { ClockStore } from "../src/store/clock-store.ts";

/** Fail points apply only to connections of this name. */
const appName = "confirmed-clock-test";
let mongo: Mongo;
let clocks: ClockStore;
const tick = new Date(5);

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName("confirmed"), appName });
  clocks = new ClockStore(mongo.client, mongo.db);
  await mongo.db.collection("clocks").insertOne({ tenantId: "acme", tick, types: { "core/article": tick } });
});
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

function failFinds(fault: object, times: number) {
  return failCommands(inject("mongoUrl"), { failCommands: ["find"], appName, ...fault }, { times });
}

test("a confirmed clock has its tick, the ticks of its types and the moment of the reading", async () => {
  const reading = await clocks.confirm("acme");
  expect(reading).toMatchObject({ tick, types: { "core/article": tick }, moment: expect.any(BigInt) });
});

test("a confirmed clock is remembered", async () => {
  const confirmed = await clocks.confirm("acme");
  expect(clocks.recall("acme")).toEqual(confirmed);
});

test("the confirmed clock of a tenant that never published has a moment, but no tick", async () => {
  expect(await clocks.confirm("nobody")).toEqual({ types: {}, moment: expect.any(BigInt) });
});

const faults: [string, object][] = [
  ["a step-down of the primary", { errorCode: 10107 }],
  ["a cut connection", { closeConnection: true }],
];

test.each(faults)("a confirmed read is repeated after one failure by %s", async (_, fault) => {
  await using _fault = await failFinds(fault, 1);
  expect(await clocks.confirm("acme")).toHaveProperty("tick");
});

test.each(faults)("a confirmed read is unavailable after two failures by %s", async (_, fault) => {
  await using _fault = await failFinds(fault, 2);
  await expect(clocks.confirm("acme")).rejects.toMatchObject({ kind: "unavailable" });
});

test("a confirmed read is unavailable when the primary cannot reach a majority in time", async () => {
  await using _fault = await failFinds({ errorCode: 50 }, 1);
  await expect(clocks.confirm("acme")).rejects.toMatchObject({
    kind: "unavailable",
    message: "no primary of the database confirms what is published; try again",
  });
});

test("fifty readers who ask at the same time cause two reads", async () => {
  const ask = () => Promise.all(Array.from({ length: 50 }, () => clocks.confirm("acme")));
  const reads = { op: "query", ns: `${mongo.db.databaseName}.clocks` };
  const { result: asked, entries } = await profiled(mongo.db, reads, ask);
  expect(entries).toHaveLength(2);
  expect(new Set(asked).size).toBe(1);
});
