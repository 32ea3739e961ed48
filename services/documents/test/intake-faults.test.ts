import type { BackingServer } from "@vidimus/devstack/backing/server";
import { openMongod } from "@vidimus/devstack/backing/mongod";
import { openTestFolder, type TestFolder } from "@vidimus/devstack/testing/test-folder";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from "vitest";
import { patient } from "@vidimus/kit/testing/patient";
import { failure } from "./support/call-failure.ts";
import { json, runDocuments, type RunningDocuments } from "./support/running-documents.ts";

let mongod: BackingServer;
let folder: TestFolder;
let dataDir: string;
let logFile: string;
let documents: RunningDocuments;
let mongo: MongoClient;

beforeAll(async () => {
  folder = openTestFolder("intake-faults");
  [dataDir, logFile] = [join(folder.path, "mongod"), join(folder.path, "mongod.log")];
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
  folder[Symbol.dispose]();
});

async function failInserts(times: number, fault: object): Promise<void> {
  const data = { failCommands: ["insert"], ...fault };
  await mongo.db("admin").command({ configureFailPoint: "failCommand", mode: { times }, data });
}

function draft(id: string, intakeToken: string) {
  return { documentJson: json({ id, type: "core/article", title: "T" }), intakeToken };
}

function create(id: string, intakeToken: string) {
  // After a dropped connection the driver looks for its server again, which takes seconds on a busy
  // machine.
  return documents.client.createDocument({ tenantId: "demo", draft: draft(id, intakeToken) }, { timeoutMs: 20_000 });
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

test("a create succeeds though its connection to MongoDB is dropped once", async () => {
  const id = randomUUID();
  await failInserts(1, { closeConnection: true });
  await expect(create(id, "")).resolves.toMatchObject({ documentId: id });
});

test("a create whose connection to MongoDB is dropped twice is unavailable, and stores no document", async () => {
  const id = randomUUID();
  await failInserts(2, { closeConnection: true });
  await expect(failure(create(id, ""))).resolves.toMatchObject({ code: "Unavailable" });
  expect(await count(id)).toBe(0);
});

test("a write that is not confirmed answers unavailable also when an id of its batch is in use", async () => {
  const [taken, fresh] = [randomUUID(), randomUUID()];
  await create(taken, "first");
  const items = [taken, fresh].map((id) => ({ tenantId: "demo", draft: draft(id, "second") }));
  await failInserts(1, { writeConcernError: { code: 64, errmsg: "waiting for replication timed out" } });
  await expect(failure(documents.client.batchCreateDocuments({ items }))).resolves.toMatchObject({
    code: "Unavailable",
  });
  const { results } = await documents.client.batchCreateDocuments({ items });
  expect(results.map(({ outcome }) => outcome.case)).toEqual(["error", "created"]);
});

test("creates during which mongod is killed succeed or are unavailable, and all succeed when repeated", async () => {
  const made: { id: string; token: string }[] = [];
  const failures: Promise<unknown>[] = [];
  const stopped = new AbortController();
  const work = async () => {
    while (!stopped.signal.aborted) {
      const batch = Array.from({ length: 8 }, () => ({ id: randomUUID(), token: randomUUID() }));
      made.push(...batch);
      const items = batch.map(({ id, token }) => ({ tenantId: "demo", draft: draft(id, token) }));
      const call = documents.client.batchCreateDocuments({ items }, { timeoutMs: 20_000 });
      await call.catch(() => failures.push(failure(call)));
    }
  };
  const port = Number(new URL(mongod.url).port);
  const workers = Array.from({ length: 16 }, work);
  await vi.waitFor(() => expect(made.length).toBeGreaterThan(1_000), patient);
  process.kill(mongod.pid!, "SIGKILL");
  await mongod.exited;
  await vi.waitFor(() => expect(failures.length).toBeGreaterThan(0), patient);
  stopped.abort();
  mongod = await openMongod({ dataDir, logFile, port, failPoints: true });
  await Promise.all(workers);
  const kinds = (await Promise.all(failures)).map((each) => (each as { kind: string }).kind);
  expect(new Set(kinds)).toEqual(new Set(["unavailable"]));
  for (let from = 0; from < made.length; from += 64) {
    const items = made.slice(from, from + 64).map(({ id, token }) => ({ tenantId: "demo", draft: draft(id, token) }));
    const { results } = await documents.client.batchCreateDocuments({ items });
    expect(results.map(({ outcome }) => outcome.case)).toEqual(items.map(() => "created"));
  }
}, 120_000);
