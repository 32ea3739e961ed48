/**
 * The baseline for transitions: one process that publishes straight on the driver, one transaction
 * a document, for 64 callers of one tenant. `POST /run?durationMs=N` seeds drafts, runs, and
 * answers what came of it. No checks, no canonical form, no RPC.
 */
import { fastify } from "fastify";
import { Binary, type ClientSession, MongoClient } from "mongodb";
import { createHash, randomUUID } from "node:crypto";
import { runCallers } from "../load/caller-load.ts";
import type { LoadResult } from "../load/load-result.ts";
import { article } from "../stage/article.ts";

const client = new MongoClient(process.env["MONGODB_URL"] ?? "", {
  maxPoolSize: 64,
  writeConcern: { w: "majority", journal: true },
});
const db = client.db(process.env["MONGODB_DATABASE"] ?? "");
const tenantId = "demo";
const callers = 64;
/** Far more than it can publish with one transaction a document. */
const draftsPerSecond = 2_000;

interface Row {
  tenantId: string;
  documentId: string;
  [column: string]: unknown;
}

const heads = db.collection<Row>("heads");
const history = db.collection<Row>("history");
const publications = db.collection<Row>("publications");
const snapshots = db.collection<Row>("snapshots");
const clocks = db.collection<{ tenantId: string; tick: Date }>("clocks");
const key = { tenantId: 1, documentId: 1 } as const;
for (const rows of [heads, publications]) await rows.createIndex(key, { unique: true });
await snapshots.createIndex({ ...key, sequence: 1 }, { unique: true });
await publications.createIndex({ tenantId: 1, type: 1, updatedAt: -1, documentId: -1 });
await history.createIndex({ ...key, at: 1 });
await clocks.createIndex({ tenantId: 1 }, { unique: true });
await clocks.updateOne({ tenantId }, { $set: { tick: new Date() } }, { upsert: true });

async function seed(count: number): Promise<string[]> {
  const body = new Binary(Buffer.from(JSON.stringify(article(2_000))));
  const type = "core/article";
  const ids = Array.from({ length: count }, () => randomUUID());
  await heads.insertMany(ids.map((documentId) => ({ tenantId, documentId, type, version: 1, status: "draft", body })));
  return ids;
}

async function publish(documentId: string): Promise<void> {
  await using session = client.startSession();
  await session.withTransaction(() => transact(session, documentId), {
    readConcern: { level: "snapshot" },
    writeConcern: { w: "majority", journal: true },
  });
}

async function transact(session: ClientSession, documentId: string): Promise<void> {
  const options = { session };
  const tick = { $max: ["$$NOW", { $add: ["$tick", 1] }] };
  const clock = await clocks.findOneAndUpdate({ tenantId }, [{ $set: { tick } }], {
    ...options,
    returnDocument: "after",
  });
  const head = await heads.findOne({ tenantId, documentId }, options);
  if (!clock || !head) throw new Error("there is no such draft");
  const updatedAt = clock.tick;
  const { type, body } = head;
  const digest = createHash("sha256")
    .update(body instanceof Binary ? body.value() : "")
    .digest();
  const name = { tenantId, documentId };
  const lastPublished = { version: 1, status: "usable", sequence: 1, updatedAt };
  await heads.updateOne(name, { $set: { status: "usable", lastPublished } }, options);
  await history.insertOne({ ...name, at: updatedAt, transition: "publish", from: "draft", to: "usable" }, options);
  await publications.insertOne({ ...name, type, version: 1, sequence: 1, updatedAt, document: body }, options);
  const seal = { bytes: body, sha256: new Binary(digest), committedAt: updatedAt, pending: true };
  await snapshots.insertOne({ ...name, sequence: 1, ...seal }, options);
}

async function run(durationMs: number): Promise<LoadResult> {
  const ids = await seed((durationMs / 1_000) * draftsPerSecond);
  let last: Promise<void> = Promise.resolve();
  const call = () => {
    const documentId = ids.pop();
    if (documentId === undefined) return undefined;
    // One after the other: concurrent ones conflict on the clock, and the driver's back-off grows
    // to seconds.
    last = last.then(() => publish(documentId));
    return last;
  };
  return runCallers({ callers, durationMs, call });
}

const app = fastify({ logger: false });
app.route<{ Querystring: { durationMs: string } }>({
  method: "POST",
  url: "/run",
  handler: (request) => run(Number(request.query.durationMs)),
});
await app.listen({ host: "127.0.0.1", port: Number(process.env["HTTP_PORT"]) });
