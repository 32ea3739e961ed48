/**
 * The baseline for intake: one process, Fastify and the driver, that parses a document, inserts it,
 * and collects documents that arrive during an insert. No keys, no schema, no canonical form.
 */
import { createBatcher } from "@vidimus/kit/queues/batcher";
import { fastify } from "fastify";
import { Binary, MongoClient } from "mongodb";

const client = new MongoClient(process.env["MONGODB_URL"] ?? "", { writeConcern: { w: "majority", journal: true } });
const rows = client.db(process.env["MONGODB_DATABASE"] ?? "").collection("documents");
await rows.createIndex({ tenantId: 1, documentId: 1 }, { unique: true });

const insert = createBatcher<object, void>({
  itemsMax: 64,
  run: async (batch) => {
    await rows.insertMany(batch, { ordered: false });
    return batch.map(() => undefined);
  },
});

const app = fastify({ logger: false });
app.post<{ Body: { id: string; type: string } }>("/v1/documents", async (request, reply) => {
  const { id, type } = request.body;
  await insert({ tenantId: "demo", documentId: id, type, body: new Binary(Buffer.from(JSON.stringify(request.body))) });
  return reply.code(201).send({ ok: true, data: { id } });
});
await app.listen({ host: "127.0.0.1", port: Number(process.env["HTTP_PORT"]) });
