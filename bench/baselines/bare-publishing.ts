/**
 * The baseline for a complete publication: one process that makes the transaction, signs, records a
 * delivery, posts it and records the answer. `POST /run?durationMs=N&perSecond=R&url=U` returns the
 * figures, and the CPU ms of this process in the run.
 */
import { fastify } from "fastify";
import { MongoClient } from "mongodb";
import { createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { Pool } from "undici";
import { runPaced } from "../load/paced-load.ts";
import { type BareSnapshot, openBarePublications } from "./bare-publications.ts";

const client = new MongoClient(process.env["MONGODB_URL"] ?? "", { writeConcern: { w: "majority", journal: true } });
const db = client.db(process.env["MONGODB_DATABASE"] ?? "");
const publications = await openBarePublications(client, db);
const deliveries = db.collection<{ _id: string; state: string; status?: number }>("deliveries");
const snapshots = db.collection("snapshots");
const { privateKey } = generateKeyPairSync("ed25519");
const secret = randomBytes(32);

let last: Promise<unknown> = Promise.resolve();

/**
 * Commits one after the other, because concurrent transactions conflict on the clock and must be
 * run again.
 */
function commit(documentId: string): Promise<BareSnapshot> {
  const committed = last.then(() => publications.publish(documentId));
  last = committed;
  return committed;
}

async function publish(pool: Pool, path: string, documentId: string): Promise<void> {
  const { bytes, sha256 } = await commit(documentId);
  const at = new Date().toISOString();
  const lines = ["snapshot", "demo", documentId, "1", "1", "usable", at, "key", sha256.toString("hex")];
  const statement = lines.join("\n");
  const value = sign(null, Buffer.from(statement), privateKey).toString("base64");
  const envelope = JSON.stringify({ documentId, signature: { algorithm: "ed25519", statement, value } });
  const body = Buffer.concat([Buffer.from(`${envelope.slice(0, -1)},"snapshot":`), bytes, Buffer.from("}")]);
  await deliveries.insertOne({ _id: documentId, state: "pending" });
  const settled = snapshots.updateOne(
    { tenantId: "demo", documentId, sequence: 1 },
    { $set: { signature: { statement, value } }, $unset: { pending: true } },
  );
  const timestamp = String(Math.floor(Date.now() / 1000));
  const hmac = createHmac("sha256", secret).update(`${documentId}.${timestamp}.`).update(body).digest("base64");
  const headers = {
    "content-type": "application/json",
    "webhook-id": documentId,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${hmac}`,
    "x-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
  };
  const answer = await pool.request({ method: "POST", path, headers, body });
  await answer.body.dump();
  await deliveries.updateOne({ _id: documentId }, { $set: { state: "delivered", status: answer.statusCode } });
  await settled;
}

async function run(query: { durationMs: string; perSecond: string; url: string }) {
  const [durationMs, perSecond] = [Number(query.durationMs), Number(query.perSecond)];
  const url = new URL(query.url);
  await using stack = new AsyncDisposableStack();
  const pool = new Pool(url.origin, { connections: 32, pipelining: 1 });
  stack.defer(() => pool.destroy());
  const ids = await publications.seed(Math.ceil((durationMs * perSecond) / 1_000));
  const before = process.cpuUsage();
  const send = () => publish(pool, url.pathname, ids.pop() ?? "");
  const result = await runPaced({ durationMs, perSecond, send });
  const { user, system } = process.cpuUsage(before);
  return { ...result, cpuMs: (user + system) / 1_000 };
}

const app = fastify({ logger: false });
app.route<{ Querystring: { durationMs: string; perSecond: string; url: string } }>({
  method: "POST",
  url: "/run",
  handler: (request) => run(request.query),
});
await app.listen({ host: "127.0.0.1", port: Number(process.env["HTTP_PORT"]) });
