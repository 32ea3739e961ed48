/**
 * The baseline for signing: one process that signs statements and inserts them in batches like the
 * ledger's, with the ledger's index. `POST /run?durationMs=N` runs and returns the figures. No RPC,
 * no attestation, no chain, no read of existing signatures.
 */
import { fastify } from "fastify";
import { Binary, MongoClient } from "mongodb";
import { generateKeyPairSync, randomBytes, randomUUID, sign } from "node:crypto";
import { promisify } from "node:util";
import { runCallers } from "../load/caller-load.ts";
import { batchItems, signingCallers } from "./signing-load.ts";

const client = new MongoClient(process.env["MONGODB_URL"] ?? "", { writeConcern: { w: "majority", journal: true } });
const batches = client
  .db(process.env["MONGODB_DATABASE"] ?? "")
  .collection<{ _id: number; [column: string]: unknown }>("ledger");
await batches.createIndex({ "entries.snapshotKey": 1, "entries.signing": 1 }, { unique: true });
const { privateKey } = generateKeyPairSync("ed25519");
const signed = promisify(sign);
let number = 0;

async function signBatch(): Promise<void> {
  const documentId = randomUUID();
  const signedAt = new Date().toISOString();
  const entries = await Promise.all(
    Array.from({ length: batchItems }, async (_, index) => {
      const digest = randomBytes(32).toString("hex");
      const lines = ["vidimus-snapshot-v1", "demo", documentId, index + 1, 1, "usable", signedAt];
      const statement = [...lines, "ed25519-AAAAAAAAAAAAAAAA", digest].join("\n");
      const value = new Binary(await signed(null, Buffer.from(statement), privateKey));
      return { snapshotKey: `demo/${documentId}/${index + 1}`, signing: 1, statement, value };
    }),
  );
  number += 1;
  const mac = new Binary(Buffer.alloc(32));
  await batches.insertOne({ _id: number, prev: mac, mac, ringRevision: 1, entries });
}

const app = fastify({ logger: false });
app.route<{ Querystring: { durationMs: string } }>({
  method: "POST",
  url: "/run",
  handler: ({ query }) =>
    runCallers({ callers: signingCallers, durationMs: Number(query.durationMs), call: signBatch }),
});
await app.listen({ host: "127.0.0.1", port: Number(process.env["HTTP_PORT"]) });
