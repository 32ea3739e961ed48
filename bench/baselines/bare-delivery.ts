/**
 * The baseline for delivery: one process that signs, records deliveries in batches, and posts.
 * `POST /run?count=N&url=U&bytes=B` delivers N snapshots of about B bytes from memory, and returns
 * the figures. It has no broker, no signing service, no order and no leases.
 */
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { fastify } from "fastify";
import { Binary, MongoClient } from "mongodb";
import { createHash, createHmac, generateKeyPairSync, randomBytes, randomUUID, sign } from "node:crypto";
import { Pool } from "undici";
import { runCallers } from "../load/caller-load.ts";
import type { LoadResult } from "../load/load-result.ts";
import { article } from "../load/article.ts";

const client = new MongoClient(process.env["MONGODB_URL"] ?? "", { writeConcern: { w: "majority", journal: true } });
const deliveries = client.db(process.env["MONGODB_DATABASE"] ?? "").collection<DeliveryRow>("deliveries");
await deliveries.createIndex({ documentId: 1, sequence: 1 }, { unique: true });
const { privateKey } = generateKeyPairSync("ed25519");
const secret = randomBytes(32);
const batchMax = 256;
const inFlight = 32;

interface DeliveryRow {
  _id: string;
  documentId: string;
  sequence: number;
  state: string;
  body: Binary;
  status?: number;
}

const store = createBatcher<DeliveryRow, void>({
  itemsMax: batchMax,
  inFlightMax: 2,
  run: async (rows) => {
    await deliveries.insertMany(rows, { ordered: false });
    return rows.map(() => undefined);
  },
});

const record = createBatcher<{ id: string; status: number }, void>({
  itemsMax: batchMax,
  inFlightMax: 2,
  run: async (results) => {
    const operations = results.map(({ id, status }) => {
      return { updateOne: { filter: { _id: id }, update: { $set: { state: "delivered", status } } } };
    });
    await deliveries.bulkWrite(operations, { ordered: false });
    return results.map(() => undefined);
  },
});

function toRow(snapshot: string): DeliveryRow {
  const documentId = randomUUID();
  const digest = createHash("sha256").update(snapshot).digest("hex");
  const lines = ["snapshot", "demo", documentId, "1", "1", "usable", new Date().toISOString(), "key", digest];
  const statement = lines.join("\n");
  const value = sign(null, Buffer.from(statement), privateKey).toString("base64");
  const envelope = JSON.stringify({ documentId, signature: { algorithm: "ed25519", statement, value } });
  const body = new Binary(Buffer.from(`${envelope.slice(0, -1)},"snapshot":${snapshot}}`));
  return { _id: randomUUID(), documentId, sequence: 1, state: "pending", body };
}

async function post(pool: Pool, path: string, { _id, body }: DeliveryRow): Promise<number> {
  const bytes = body.value();
  const timestamp = Math.floor(Date.now() / 1000);
  const hmac = createHmac("sha256", secret).update(`${_id}.${timestamp}.`).update(bytes).digest("base64");
  const headers = {
    "content-type": "application/json",
    "webhook-id": _id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${hmac}`,
    "x-signature-256": `sha256=${createHmac("sha256", secret).update(bytes).digest("hex")}`,
  };
  const answer = await pool.request({ method: "POST", path, headers, body: bytes });
  await answer.body.dump();
  return answer.statusCode;
}

async function deliver(pool: Pool, path: string, snapshot: string): Promise<number> {
  const row = toRow(snapshot);
  await store(row);
  const posted = performance.now();
  const status = await post(pool, path, row);
  const tookMs = performance.now() - posted;
  await record({ id: row._id, status });
  return tookMs;
}

async function run(query: { count: string; url: string; bytes: string }): Promise<LoadResult> {
  await using stack = new AsyncDisposableStack();
  const url = new URL(query.url);
  const pool = new Pool(url.origin, { connections: inFlight, pipelining: 1 });
  stack.defer(() => pool.destroy());
  const snapshot = JSON.stringify(article(Number(query.bytes)));
  let left = Number(query.count);
  const call = () => (left-- > 0 ? deliver(pool, url.pathname, snapshot) : undefined);
  return await runCallers({ callers: 2 * batchMax, durationMs: 280_000, call });
}

const app = fastify({ logger: false });
app.route<{ Querystring: { count: string; url: string; bytes: string } }>({
  method: "POST",
  url: "/run",
  handler: (request) => run(request.query),
});
await app.listen({ host: "127.0.0.1", port: Number(process.env["HTTP_PORT"]) });
