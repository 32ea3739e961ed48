import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { AuditLog } from "../src/audit/audit-log.ts";
import { openMongo } from "@vidimus/kit/mongo/mongo";

const database = testDatabaseName("audit");
const by = {
  actor: "ida",
  role: "owner",
  identity: "spiffe://a.example/b",
  from: "192.0.2.1",
  requestId: "r",
  keyPrefix: "",
};
const change = {
  tenantId: "acme",
  action: "paint",
  subject: "shed",
  detail: { colour: { from: undefined, to: "red" } },
};
const query = { tenantId: "acme", actions: [], limit: 10 };
const lines: object[] = [];
let mongo: Awaited<ReturnType<typeof openMongo>>;
let audit: AuditLog;

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database, appName: "audit-test" });
  audit = await AuditLog.open(mongo, { info: (line: object) => void lines.push(line) });
  await mongo.db.createCollection("sheds");
});
beforeEach(() => void lines.splice(0));
afterAll(() => mongo[Symbol.asyncDispose]());

const sheds = () => mongo.db.collection<{ _id: string; colour: string }>("sheds");

test("a change is stored, and with it an entry that holds its author, action, subject and detail", async () => {
  await audit.transact(async (session, record) => {
    await sheds().insertOne({ _id: "shed", colour: "red" }, { session });
    await record(by, change);
  });
  expect(await sheds().countDocuments()).toBe(1);
  const [entry] = await audit.list(query);
  const { entryId, at } = entry!;
  expect(entry).toEqual({ entryId, at, ...by, ...change, detail: { colour: { to: "red" } } });
});

test("a change is logged only after it was stored, in one line without the detail", async () => {
  const { detail, ...shown } = { ...change, tenantId: "logged" };
  await audit.transact(async (_, record) => {
    await record(by, { ...shown, detail });
    expect(lines).toEqual([]);
  });
  const [entry] = await audit.list({ ...query, tenantId: "logged" });
  expect(lines).toEqual([{ audit: entry!.entryId, ...by, ...shown }]);
});

test("when a change fails after its entry was recorded, no change, entry or log line remains", async () => {
  const before = await audit.list(query);
  const failing = audit.transact(async (session, record) => {
    await sheds().updateOne({ _id: "shed" }, { $set: { colour: "blue" } }, { session });
    await record(by, change);
    throw new Error("no ladder");
  });
  await expect(failing).rejects.toThrow("no ladder");
  expect(await sheds().findOne({})).toMatchObject({ colour: "red" });
  expect(await audit.list(query)).toEqual(before);
  expect(lines).toEqual([]);
});

test("a change that is repeated after a write conflict is stored and logged once", async () => {
  let tries = 0;
  await audit.transact(async (session, record) => {
    await record(by, change);
    tries += 1;
    await sheds().findOne({}, { session });
    // A write outside of the transaction, which therefore ends with a write conflict.
    if (tries === 1) await sheds().updateOne({ _id: "shed" }, { $set: { colour: "blue" } });
    await sheds().updateOne({ _id: "shed" }, { $set: { colour: "green" } }, { session });
  });
  expect(tries).toBeGreaterThan(1);
  expect(lines).toHaveLength(1);
  expect(await sheds().findOne({})).toMatchObject({ colour: "green" });
  expect(await audit.list(query)).toHaveLength(2);
});

test("tenants whose ids begin alike, and the platform, see none of each other's entries", async () => {
  const others = ["ac", "acm", "acme0", "acme_", ""];
  for (const tenantId of others) await audit.transact((_, record) => record(by, { ...change, tenantId }));
  for (const tenantId of others) {
    expect((await audit.list({ ...query, tenantId })).map((entry) => entry.tenantId)).toEqual([tenantId]);
  }
  expect(await audit.list(query)).toHaveLength(2);
});

test("the log keeps its entries when it is opened twice at once", async () => {
  const log = { info: () => undefined };
  await Promise.all([AuditLog.open(mongo, log), AuditLog.open(mongo, log)]);
  expect(await audit.list(query)).toHaveLength(2);
});
