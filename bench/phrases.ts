/**
 * The dictionary: an import of 50,000 new phrases over HTTP, including its validation and its
 * charge, compared with the driver's bulk upsert of the same rows; and an export over HTTP compared
 * with a bare loop over the same cursor.
 */
import { openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { type Collection, MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { compare, type Side, type Turn } from "./load/compare.ts";
import { readBenchSettings } from "./load/settings.ts";
import { checkBar } from "./load/verdict.ts";

const rows = 50_000;
const rowsPerBulk = 1_000;

const { rounds } = readBenchSettings();
await using stack = await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "100000/60s" });
await using client = await new MongoClient(stack.dev.mongodb, {
  writeConcern: { w: "majority", journal: true },
}).connect();
const bare = client.db("bare").collection("phrases");
await bare.createIndex({ tenantId: 1, id: 1 }, { unique: true });
await bare.createIndex({ tenantId: 1, language: 1, phrase: 1 }, { unique: true });
const url = `${stack.dev.gateway}/v1/phrases`;
const authorization = `Bearer ${stack.dev.tenants[0]?.apiKey}`;

let turns = 0;
const imports = await compare(importing("vidimus", importOverHttp), importing("bulk upsert", bulkUpsert), rounds);
checkBar("import of 50,000 phrases, times the driver's bulk upsert", imports.ratio, { atLeast: 0.7 });

const stored = client.db("vidimus_phrases").collection("phrases");
const exports = await compare(
  { name: "vidimus", run: () => timed(exportOverHttp) },
  { name: "cursor loop", run: () => timed(() => loop(stored)) },
  rounds,
);
console.log(`       export, times a bare loop over the cursor: ${exports.ratio.toFixed(2)} (no bar)`);

function importing(name: string, work: (phrases: string[]) => Promise<void>): Side {
  const run = () => {
    const turn = (turns += 1);
    const phrases = Array.from({ length: rows }, (_, n) => `ord ${turn} ${n}`);
    return timed(async () => {
      await work(phrases);
      return rows;
    });
  };
  return { name, run };
}

async function timed(work: () => Promise<number>): Promise<Turn> {
  const started = performance.now();
  const count = await work();
  return { perSecond: (count * 1_000) / (performance.now() - started) };
}

async function importOverHttp(phrases: string[]): Promise<void> {
  const body = ["language,phrase", ...phrases.map((phrase) => `sv,${phrase}`)].join("\r\n");
  const headers = { authorization, "content-type": "text/csv" };
  const response = await fetch(`${url}/import`, { method: "POST", headers, body });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
}

async function bulkUpsert(phrases: string[]): Promise<void> {
  for (let at = 0; at < phrases.length; at += rowsPerBulk) {
    const operations = phrases.slice(at, at + rowsPerBulk).map((phrase) => {
      const now = new Date();
      const set = { caseSensitive: false, forbidden: false, commonMistakes: [], description: "", updatedAt: now };
      const filter = { tenantId: "demo", language: "sv", phrase };
      return {
        updateOne: { filter, update: { $set: set, $setOnInsert: { id: randomUUID(), createdAt: now } }, upsert: true },
      };
    });
    await bare.bulkWrite(operations, { ordered: false });
  }
}

async function exportOverHttp(): Promise<number> {
  const headers = { authorization, "accept-encoding": "identity" };
  const response = await fetch(`${url}?format=csv`, { headers });
  let lines = 0;
  for await (const piece of response.body ?? []) for (const byte of piece) if (byte === 0x0a) lines += 1;
  return lines - 1;
}

async function loop(collection: Collection): Promise<number> {
  let count = 0;
  const cursor = collection.find({ tenantId: "demo" }).sort({ tenantId: 1, language: 1, phrase: 1 });
  for await (const _ of cursor) count += 1;
  return count;
}
