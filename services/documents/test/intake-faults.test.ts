import type { BackingServer } from "@vidimus/devstack/backing/server";
import { openMongod } from "@vidimus/devstack/backing/mongod";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { failure } from "./call-failure.ts";
import { json, runDocuments, type RunningDocuments } from "./running-documents.ts";

let mongod: BackingServer;
let dir: string;
let documents: RunningDocuments;
let mongo: MongoClient;

beforeAll(async () => {
  // A server has one fail point for failing commands: tests that run beside each other would take
  // it from one another.
  dir = await mkdtemp(join(tmpdir(), "vidimus-intake-faults-"));
  const [dataDir, logFile] = [join(dir, "mongod"), join(dir, "mongod.log")];
  mongod = await openMongod({ dataDir, logFile, port: 0, failPoints: true });
  documents = await runDocuments({ mongoUrl: mongod.url, natsUrl: inject("natsUrl") });
  mongo = await MongoClient.connect(mongod.url);
});

afterEach(async () => {
  await mongo.db("admin").command({ configureFailPoint: "failCommand", mode: "off" });
});

afterAll(async () => {
  await mongo.close();
  await documents[Symbol.asyncDispose]();
  await mongod[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

async function failInserts(times: number, fault: object): Promise<void> {
  const data = { failCommands: ["insert"], ...fault };
  await mongo.db("admin").command({ configureFailPoint: "failCommand", mode: { times }, data });
}

function create(id: string, intakeToken: string) {
  const documentJson = json({ id, type: "core/article", title: "T" });
  const draft = { documentJson, intakeToken };
  // After a dropped connection the driver looks for its server again, which takes seconds on a busy
  // machine.
  return documents.client.createDocument({ tenantId: "demo", draft }, { timeoutMs: 20_000 });
}

function count(documentId: string): Promise<number> {
  return mongo.db(documents.database).collection("heads").countDocuments({ documentId });
}

test("a write that is stored but not confirmed answers unavailable, and its repeat is answered as created", async () => {
  const id = randomUUID();
  // 64 is WriteConcernFailed: the majority did not confirm in time. The row is there all the same.
  await failInserts(1, { writeConcernError: { code: 64, errmsg: "waiting for replication timed out" } });
  await expect(failure(create(id, "attempt"))).resolves.toMatchObject({ code: "Unavailable", kind: "unavailable" });
  expect(await count(id)).toBe(1);
  await expect(create(id, "attempt")).resolves.toMatchObject({ documentId: id });
  await expect(failure(create(id, "another"))).resolves.toMatchObject({ kind: "already_exists" });
  expect(await count(id)).toBe(1);
});

test("one dropped connection is not noticed, two in a row answer unavailable and store nothing", async () => {
  const id = randomUUID();
  await failInserts(1, { closeConnection: true });
  await expect(create(id, "")).resolves.toMatchObject({ documentId: id });
  const other = randomUUID();
  await failInserts(2, { closeConnection: true });
  await expect(failure(create(other, ""))).resolves.toMatchObject({ code: "Unavailable" });
  expect(await count(other)).toBe(0);
});
