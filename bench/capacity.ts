/**
 * Figures for the capacity model of docs/operations.md: the CPU of each process involved for a
 * create and for a publication that is signed and delivered, at an easy rate and at full speed, and
 * for a read at full speed; and the bytes of a row of each collection that this run fills. No
 * baseline and no bar.
 */
import { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import type { Db } from "mongodb";
import { runCallers } from "./load/caller-load.ts";
import { httpRequest, runLoad } from "./load/http-load.ts";
import { runPaced } from "./load/paced-load.ts";
import { openReceiver } from "./load/receiver.ts";
import { readBenchSettings } from "./load/settings.ts";
import { article } from "./load/article.ts";
import { asAdmin, asEditor, createDrafts, untilDelivered } from "./stage/drafts.ts";
import { openStage } from "./stage/open-stage.ts";
import { cpuMsOf } from "./measure/process-cpu.ts";

const { durationMs } = readBenchSettings();
const processes = ["gateway", "documents", "signing", "delivery", "mongod", "nats"] as const;
const easyPerSecond = 50;
const articleBytes = 2_000;

await using stage = await openStage();
await using receiver = await openReceiver();
const { tenantId, apiKey, constellation } = stage;
const { dev } = constellation;
using documents = openRpcClient(DocumentService, { target: dev.grpc.documents });
using endpoints = openRpcClient(EndpointService, { target: dev.grpc.delivery });
const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
const url = new URL(dev.gateway);
const table: Record<string, Record<string, number>> = {};

/**
 * Runs `work`, which returns the number of its operations, and notes the CPU ms of each process for
 * one operation.
 */
async function measure(name: string, work: () => Promise<number>): Promise<void> {
  const read = async () => {
    const { pids } = await constellation.current();
    return Promise.all(processes.map((each) => cpuMsOf([pids[each] ?? 0])));
  };
  const before = await read();
  const started = performance.now();
  const count = await work();
  const perSecond = (count * 1_000) / (performance.now() - started);
  const used = (await read()).map((ms, index) => (ms - (before[index] ?? 0)) / count);
  const row = processes.map((each, index) => [each, round(used[index] ?? 0)] as const);
  const all = used.reduce((sum, ms) => sum + ms, 0);
  table[name] = { "per second": Math.round(perSecond), ...Object.fromEntries(row), all: round(all) };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

async function atFullSpeed(next: () => Buffer, expectedStatus: number): Promise<number> {
  const { perSecond } = await runLoad({ url, connections: 64, durationMs, next, expectedStatus });
  return (perSecond * durationMs) / 1_000;
}

const create = () => httpRequest("POST", "/v1/documents", headers, JSON.stringify(article(articleBytes)));
await atFullSpeed(create, 201);
await measure("nothing at all", async () => {
  await new Promise((resolve) => setTimeout(resolve, durationMs));
  return durationMs / 1_000;
});
await measure("create, 64 connections", () => atFullSpeed(create, 201));
await measure(`create, ${easyPerSecond}/s`, async () => {
  const send = async () => {
    const answer = await fetch(new URL("/v1/documents", url), {
      method: "POST",
      headers,
      body: JSON.stringify(article(articleBytes)),
    });
    await answer.arrayBuffer();
  };
  await runPaced({ perSecond: easyPerSecond, durationMs, send });
  return (easyPerSecond * durationMs) / 1_000;
});

await endpoints.createEndpoint({ tenantId, url: receiver.url }, asAdmin);
const published: string[] = [];

async function publish(ids: string[], run: (send: () => Promise<void>) => Promise<unknown>): Promise<number> {
  const count = ids.length;
  published.push(...ids);
  receiver.clear();
  await run(async () => {
    const documentId = ids.pop();
    if (documentId === undefined) return;
    const transition = { documentId, name: "publish", expectedVersion: 1n };
    await documents.transitionDocument({ tenantId, transition }, asEditor);
  });
  await receiver.untilCount(count, 120_000);
  await untilDelivered(stage.documents);
  return count;
}

const easy = await createDrafts(documents, tenantId, (easyPerSecond * durationMs) / 1_000, articleBytes);
await measure(`publication, signed and delivered to one endpoint, ${easyPerSecond}/s`, () =>
  publish(easy, (send) => runPaced({ perSecond: easyPerSecond, durationMs, send })),
);
const many = await createDrafts(documents, tenantId, 4_000, articleBytes);
await measure("the same, 64 callers", () =>
  publish(many, (send) =>
    runCallers({ callers: 64, durationMs: 120_000, call: () => (many.length > 0 ? send() : undefined) }),
  ),
);
const byId = () =>
  httpRequest("GET", `/v1/publisher/documents/${published[Math.floor(Math.random() * published.length)]}`, headers);
await measure("read by id, 64 connections", () => atFullSpeed(byId, 200));
const page = () => httpRequest("GET", "/v1/documents?type=core/article&limit=50", headers);
await measure("page of 50, 64 connections", () => atFullSpeed(page, 200));
console.table(table);
await showBytes();

/**
 * Prints the bytes that one row takes in memory, on disk (compressed) and in the indexes, for each
 * collection that this run fills: no document is edited, so `versions` and `slugs` stay empty.
 */
async function showBytes(): Promise<void> {
  const { client } = stage.documents;
  await client.db("admin").command({ fsync: 1 });
  const sizes: Record<string, Record<string, number>> = {};
  const grown = {
    vidimus_documents: ["heads", "history", "snapshots", "publications"],
    vidimus_signing: ["ledger"],
    vidimus_delivery: ["deliveries"],
  };
  for (const [database, names] of Object.entries(grown)) {
    for (const name of names) sizes[`${database}.${name}`] = await bytesOf(client.db(database), name);
  }
  console.table(sizes);
}

async function bytesOf(db: Db, name: string): Promise<Record<string, number>> {
  const [stats] = await db
    .collection(name)
    .aggregate([{ $collStats: { storageStats: {} } }])
    .toArray();
  const { count = 1, size = 0, storageSize = 0, totalIndexSize = 0 } = stats?.["storageStats"] ?? {};
  const per = (bytes: number) => Math.round(bytes / Math.max(1, count));
  return { rows: count, "bytes in memory": per(size), "on disk": per(storageSize), "of indexes": per(totalIndexSize) };
}
