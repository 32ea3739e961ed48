/** The commands of `npm run restore:delivery`, which an operator runs on a restored database. */
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { type Mongo, openMongo } from "@vidimus/kit/mongo/mongo";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { deliveryIndexes, deliveryRows } from "../src/store/delivery-indexes.ts";
import type { NewDelivery } from "../src/store/delivery-rows.ts";
import { DeliveryStore } from "../src/store/delivery-store.ts";

const database = testDatabaseName("restore");
const createdAt = new Date();
let mongo: Mongo;

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "restore-test" });
  await ensureIndexes(mongo.db, { deliveries: deliveryIndexes });
});
afterAll(async () => {
  await mongo.db.dropDatabase();
  await mongo[Symbol.asyncDispose]();
});

async function restore(command: string, lines: readonly unknown[] = []): Promise<string> {
  const main = new URL("../src/restore.ts", import.meta.url).pathname;
  const env = { ...process.env, MONGODB_URL: inject("mongoUrl"), MONGODB_DATABASE: database };
  const running = promisify(execFile)(process.execPath, [main, ...command.split(" ")], { env });
  running.child.stdin?.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return (await running).stdout;
}

function rowOf(endpointId: string, documentId: string, sequence: number): NewDelivery {
  const deliveryId = `${endpointId}-${documentId}-${sequence}`;
  const names = { tenantId: "acme", endpointId, documentId, deliveryId, webhookId: deliveryId };
  const standing = sequence === 1 ? ("due" as const) : ("behind" as const);
  return { ...names, sequence, signingNumber: 1, createdAt, bodyBytes: 2_000, standing };
}

const snapshot = (documentId: string, sequence: number) => ({ tenantId: "acme", documentId, sequence });

test("the highest sequence of a database without deliveries is 0", async () => {
  expect(await restore("highest")).toBe("0\n");
});

test("the command `undelivered` prints nothing for a database without deliveries", async () => {
  expect(await restore("undelivered")).toBe("");
});

describe("in a database with deliveries", () => {
  // The tests below this block need these rows, too.
  beforeAll(async () => {
    const deliveries = new DeliveryStore(deliveryRows(mongo.db), "test");
    await deliveries.insert(
      [rowOf("e1", "a", 1), rowOf("e2", "a", 1), rowOf("e1", "a", 2), rowOf("e1", "b", 1)],
      createdAt,
    );
    await deliveryRows(mongo.db).updateOne({ documentId: "b" }, { $set: { state: "delivered", sequence: 7 } });
  });

  test("the highest sequence may be that of a delivered snapshot", async () => {
    expect(await restore("highest")).toBe("7\n");
  });

  test("undelivered snapshots are named once each", async () => {
    const lines = (await restore("undelivered")).trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(new Set(lines.map((line): unknown => JSON.parse(line)))).toEqual(
      new Set([snapshot("a", 1), snapshot("a", 2)]),
    );
  });
});

test("a notice changes nothing that `highest` and `undelivered` print", async () => {
  const told = async () => [await restore("highest"), ...(await restore("undelivered")).split("\n").toSorted()];
  const before = await told();
  const notice = { event: "endpoint.expiring", reason: "gone", host: "receiver.example" } as const;
  const times = { at: createdAt, since: createdAt };
  const row = { ...rowOf("e1", "e2", createdAt.getTime()), standing: "due" as const, notice: { ...notice, ...times } };
  await new DeliveryStore(deliveryRows(mongo.db), "test").insert([row], createdAt);
  expect(await told()).toEqual(before);
});

test("give-up ends every pending delivery of the snapshots that stdin names, and no other one", async () => {
  expect(await restore("give-up", [snapshot("a", 1), snapshot("b", 7), snapshot("c", 1)])).toBe(
    `database ${database}: 2 deliveries given up\n`,
  );
  const rows = await deliveryRows(mongo.db)
    .find({}, { sort: { _id: 1 } })
    .toArray();
  expect(rows.map(({ endpointId, documentId, sequence, state }) => [endpointId, documentId, sequence, state])).toEqual(
    expect.arrayContaining([
      ["e1", "a", 1, "exhausted"],
      ["e2", "a", 1, "exhausted"],
      ["e1", "a", 2, "pending"],
      ["e1", "b", 7, "delivered"],
    ]),
  );
  const ended = rows.filter(({ state }) => state === "exhausted");
  for (const row of ended)
    expect([row.nextAttemptAt, row.lease, !!row.expiresAt]).toEqual([undefined, undefined, true]);
  expect(await restore("give-up", [snapshot("a", 1)])).toContain(": 0 deliveries given up");
});

test.each([
  ["an unknown command", "lift", [], 78, "one of: highest; undelivered; give-up"],
  ["an incomplete line", "give-up", [{ documentId: "a" }], 1, 'stdin names no snapshot: {"documentId":"a"}'],
  ["a sequence that is text", "give-up", [{ ...snapshot("a", 2), sequence: "2" }], 1, "stdin names no snapshot"],
])("with %s the restore fails and gives no delivery up", async (_, command, lines, code, message) => {
  const failed = restore(command, lines);
  await expect(failed).rejects.toMatchObject({ code, stderr: expect.stringContaining(message) });
  expect(await deliveryRows(mongo.db).countDocuments({ documentId: "a", sequence: 2, state: "pending" })).toBe(1);
});
