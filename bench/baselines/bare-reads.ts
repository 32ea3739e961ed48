/**
 * The baseline for reads: one process, Fastify and the driver, over copies of the newest
 * publications. `/objects` maps rows to objects, `/bytes` joins stored bytes, `/documents/ID` finds
 * one row, `/held` answers 304 to a tag it holds in memory. No keys, no cursors, no other tags.
 */
import type { PublicationRow } from "@vidimus/documents/store/publication-row";
import { fastify } from "fastify";
import { Binary, type Db, MongoClient } from "mongodb";

const client = new MongoClient(process.env["MONGODB_URL"] ?? "");
const db = client.db(process.env["MONGODB_DATABASE"] ?? "");
const copiesMax = 10_000;
const tenantId = "demo";
const type = "core/article";

interface ObjectRow {
  tenantId: string;
  documentId: string;
  type: string;
  title: string;
  meta: object;
  content: object;
  updatedAt: Date;
}

const objects = db.collection<ObjectRow>("objects");
const bytes = db.collection<PublicationRow>("bytes");
await copy(client.db("vidimus_documents"));

async function copy(source: Db): Promise<void> {
  const newest = source
    .collection<PublicationRow>("publications")
    .find({ tenantId, type, document: { $exists: true } });
  const rows = await newest.sort({ updatedAt: -1, documentId: -1 }).limit(copiesMax).project({ _id: 0 }).toArray();
  const copies = rows as PublicationRow[];
  await bytes.insertMany(copies);
  await objects.insertMany(copies.map(toObjectRow));
  for (const collection of [objects, bytes]) {
    await collection.createIndex({ tenantId: 1, documentId: 1 }, { unique: true });
    await collection.createIndex({ tenantId: 1, type: 1, updatedAt: -1, documentId: -1 });
  }
}

/** Objects have no links, because the items of the public list have none. */
function toObjectRow({ documentId, document, updatedAt }: PublicationRow): ObjectRow {
  const { title, meta, content } = JSON.parse(Buffer.from(document?.value() ?? []).toString());
  return { tenantId, documentId, type, title, meta, content, updatedAt };
}

function toItem({ documentId: id, type, title, meta, content, updatedAt }: ObjectRow) {
  return { id, type, title, meta, content, updated_at: updatedAt.toISOString() };
}

const page = { tenantId, type } as const;
const newestFirst = { updatedAt: -1, documentId: -1 } as const;
async function pageOfObjects(limit: number) {
  const rows = await objects
    .find(page)
    .sort(newestFirst)
    .limit(limit + 1)
    .toArray();
  return { items: rows.slice(0, limit).map(toItem), nextCursor: "next", hasMore: rows.length > limit };
}

async function pageOfBytes(limit: number): Promise<Buffer> {
  const columns = { document: 1, linksStart: 1, linksEnd: 1 } as const;
  const rows = await bytes
    .find(page)
    .project<PublicationRow>(columns)
    .sort(newestFirst)
    .limit(limit + 1)
    .toArray();
  const pieces = rows.slice(0, limit).flatMap(({ document = new Binary(), linksStart, linksEnd }, index) => {
    const value = document.value();
    return [Buffer.from(index === 0 ? "" : ","), value.subarray(0, linksStart), value.subarray(linksEnd)];
  });
  const tail = Buffer.from(`],"nextCursor":"next","hasMore":${rows.length > limit}}}`);
  return Buffer.concat([Buffer.from('{"ok":true,"data":{"items":['), ...pieces, tail]);
}

const heldTag = 'W/"held"';
const app = fastify({ logger: false });
app.route<{ Querystring: { limit: string } }>({
  method: "GET",
  url: "/objects",
  handler: async (request) => ({ ok: true, data: await pageOfObjects(Number(request.query.limit)) }),
});
app.route<{ Querystring: { limit: string } }>({
  method: "GET",
  url: "/bytes",
  handler: async (request, reply) => {
    const body = await pageOfBytes(Number(request.query.limit));
    return reply.header("content-type", "application/json; charset=utf-8").send(body);
  },
});
app.route<{ Params: { id: string } }>({
  method: "GET",
  url: "/documents/:id",
  handler: async (request, reply) => {
    const row = await objects.findOne({ tenantId, documentId: request.params.id });
    return row ? { ok: true, data: { document: toItem(row) } } : reply.code(404).send({ ok: false });
  },
});
app.get("/held", (request, reply) => {
  void reply.header("etag", heldTag);
  return request.headers["if-none-match"] === heldTag ? reply.code(304).send() : reply.send({ ok: true });
});
await app.listen({ host: "127.0.0.1", port: Number(process.env["HTTP_PORT"]) });
