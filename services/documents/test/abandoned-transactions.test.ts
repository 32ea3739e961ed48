import { type ClientSession, MongoClient } from "mongodb";
import { randomBytes } from "node:crypto";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { article, as, type Publishing, runPublishing } from "./support/publishing.ts";

/**
 * The service's own name, so the tests' transactions look like those that the service has
 * abandoned.
 */
const appName = "vidimus-documents";
let service: Publishing;
let observer: MongoClient;

beforeAll(async () => {
  service = await runPublishing({ mongoUrl: inject("mongoUrl"), natsUrl: inject("natsUrl") });
  observer = await new MongoClient(inject("mongoUrl")).connect();
  // MongoDB's default, set explicitly: with a lower value the server itself would end the
  // transactions within the test.
  await observer.db("admin").command({ setParameter: 1, transactionLifetimeLimitSeconds: 60 });
});
afterAll(async () => {
  await observer?.close();
  await service?.[Symbol.asyncDispose]();
});

const tenant = () => `t_${randomBytes(6).toString("hex")}`;

/** Opens a transaction that locks a row, and whose client then sends nothing more. */
async function abandon(collection: string, filter: object): Promise<AsyncDisposable & { session: ClientSession }> {
  const client = await new MongoClient(inject("mongoUrl"), { appName }).connect();
  const session = client.startSession();
  session.startTransaction();
  const rows = client.db(service.database).collection(collection);
  await rows.updateOne(filter, { $set: { abandoned: true } }, { session, upsert: true });
  return { session, [Symbol.asyncDispose]: () => client.close() };
}

test.concurrent("a publication goes through although a dead process holds the tenant's clock", async () => {
  const tenantId = tenant();
  const documentId = await service.create(tenantId, article());
  await using _ = await abandon("clocks", { tenantId });
  expect(await service.take(tenantId, documentId, "publish")).toMatchObject({ status: "usable", sequence: 1n });
  expect(await service.db.collection("clocks").countDocuments({ tenantId, abandoned: true })).toBe(0);
});

test.concurrent("an edit goes through although a dead process holds the document's head", async () => {
  const tenantId = tenant();
  const draft = article();
  const documentId = await service.create(tenantId, draft);
  await using _ = await abandon("heads", { tenantId, documentId });
  const documentJson = Buffer.from(JSON.stringify({ ...draft, title: "More snow" }));
  const request = { tenantId, documentId, expectedVersion: 1n, documentJson };
  expect((await service.documents.updateDocument(request, as("editor"))).document).toMatchObject({ version: 2n });
});

test.concurrent("a process that was wrongly taken for dead gets an error, and its transaction is undone", async () => {
  const tenantId = tenant();
  const documentId = await service.create(tenantId, article());
  await using slow = await abandon("clocks", { tenantId });
  await service.take(tenantId, documentId, "publish");
  await expect(slow.session.commitTransaction()).rejects.toSatisfy(
    (error: Error & { hasErrorLabel(label: string): boolean }) => error.hasErrorLabel("TransientTransactionError"),
  );
  expect(await service.db.collection("clocks").countDocuments({ tenantId, abandoned: true })).toBe(0);
});

test.concurrent("the idle transaction of another program is left alone", async () => {
  const tenantId = tenant();
  await using other = await new MongoClient(inject("mongoUrl"), { appName: "somebody-else" }).connect();
  await using session = other.startSession();
  session.startTransaction();
  await other.db(service.database).collection("notes").insertOne({ text: "still here" }, { session });
  const idle = { appName: "somebody-else", "transaction.timeInactiveMicros": { $gt: 2_000_000 } };
  const stages = [{ $currentOp: { idleSessions: true } }, { $match: idle }];
  const isIdle = async () => expect(await observer.db("admin").aggregate(stages).toArray()).toHaveLength(1);
  await vi.waitFor(isIdle, patient);
  const documentId = await service.create(tenantId, article());
  await using _ = await abandon("clocks", { tenantId });
  await service.take(tenantId, documentId, "publish");
  await session.commitTransaction();
  expect(await service.db.collection("notes").countDocuments()).toBe(1);
});
