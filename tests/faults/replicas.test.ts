/**
 * Two gateways and two documents processes under 100 creates and 50 reads a second: no request
 * fails, and none waits, while a process is restarted or hangs.
 */
import { MongoClient } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { EdgeLoad, type Exchange } from "../support/edge-load.ts";
import { article, openNewsroom } from "../support/newsroom.ts";
import { type ReplicaProcess, untilUsed } from "../support/replica-process.ts";
import { openReplicatedStack, type ReplicatedStack } from "../support/replicated-stack.ts";
import { transitionAll } from "../support/stored.ts";

/** Requests until processes that were just started are as fast as they will be. */
const warmUps = 500;
const calmMs = 5_000;
const hungMs = 20_000;
/** How much longer than its own work, on the machine as it is then, a request may take. */
const waitMsMax = 1_000;

const opened = new AsyncDisposableStack();
let stack: ReplicatedStack;
let load: EdgeLoad;
/** The longest request of each kind before any fault: its own work on this machine. */
let own: ReadonlyMap<string, number>;
/** The process that does not answer, nor show how busy the machine is. */
let hung: ReplicaProcess | undefined;

beforeAll(async () => {
  stack = opened.use(await openReplicatedStack(inject("mongoUrl")));
  const { gateways, documents } = stack;
  const { tenants } = stack.dev;
  const articles = await Promise.all(tenants.map(async ({ id }) => [id, await publish(id)] as const));
  load = opened.use(new EdgeLoad({ gateways, documents, tenants, published: Object.fromEntries(articles) }));
  await vi.waitUntil(() => load.ended.length > warmUps, { timeout: 60_000 });
  await Promise.all(documents.map(untilUsed));
  const startMs = performance.now();
  await pause(calmMs);
  const calm = await endedSince(startMs);
  own = new Map(calm.map(({ kind }) => [kind, Math.max(...calm.filter((each) => each.kind === kind).map(tookMs))]));
  expect(listed(calm.filter(isFailed))).toEqual([]);
});

afterAll(() => opened.disposeAsync());

async function publish(tenantId: string) {
  using room = openNewsroom(stack.dev, tenantId);
  const articles = Array.from({ length: 20 }, () => article());
  const ids = await Promise.all(articles.map((each) => room.push(each)));
  await transitionAll(room, ids, "publish");
  return ids.map((id) => ({ id, slug: `ferry-${id}` }));
}

/** What a failed assertion shows of requests. */
const listed = (exchanges: readonly Exchange[]) =>
  exchanges.map(
    ({ kind, gateway, tookMs: took, outcome }) => `${kind} at ${gateway}: ${outcome}, ${Math.round(took)} ms`,
  );

const tookMs = (each: { readonly tookMs: number }) => each.tookMs;
const isFailed = ({ kind, outcome }: Exchange) => outcome !== (kind === "create" ? 201 : 200);

/** Requests that were sent since, after all of them have ended. */
async function endedSince(startMs: number): Promise<Exchange[]> {
  await load.settle();
  return load.ended.filter(({ sentMs }) => sentMs >= startMs);
}

/** Checks that the requests since then were as many as they should be, and all of them prompt. */
async function expectPrompt(startMs: number): Promise<void> {
  const seconds = (performance.now() - startMs) / 1_000;
  const exchanges = await endedSince(startMs);
  const busyMs = longestCheckSince(startMs, stack.gateways) + longestCheckSince(startMs, stack.documents);
  const isSlow = ({ kind, tookMs: took }: Exchange) => took > (own.get(kind) ?? 0) + busyMs + waitMsMax;
  expect(listed(exchanges.filter(isFailed))).toEqual([]);
  expect(listed(exchanges.filter(isSlow))).toEqual([]);
  expect(exchanges.length).toBeGreaterThan(seconds * 150 * 0.8);
}

/**
 * The longest of the looks at single processes, which takes long where other work keeps the machine
 * from them. On a machine of its own it is some milliseconds.
 */
function longestCheckSince(startMs: number, processes: readonly ReplicaProcess[]): number {
  const names = new Set(processes.filter((each) => each !== hung).map(({ name }) => name));
  const checks = load.checks.filter((check) => check.sentMs >= startMs && names.has(check.process));
  return Math.max(0, ...checks.map(tookMs));
}

describe("two gateways and two documents processes under load", () => {
  test("answer every request in time while each process in turn is restarted", async () => {
    const startMs = performance.now();
    for (const documents of stack.documents) {
      await documents.restart();
      await untilUsed(documents);
    }
    for (const gateway of stack.gateways) {
      await gateway.restart();
      await vi.waitUntil(() => load.uses(gateway), { timeout: 10_000 });
    }
    await expectPrompt(startMs);
  }, 120_000);

  test("answer every request in time while a documents process is stopped for 20 s, and use it again", async () => {
    await Promise.all(stack.documents.map(untilUsed));
    hung = stack.documents[0]!;
    const startMs = performance.now();
    process.kill(hung.pid(), "SIGSTOP");
    await pause(hungMs).finally(() => process.kill(hung!.pid(), "SIGCONT"));
    await untilUsed(hung);
    await expectPrompt(startMs);
  }, 60_000);

  test("have stored what they acknowledged, once, as the key that sent it", async () => {
    await load[Symbol.asyncDispose]();
    await using mongo = await MongoClient.connect(stack.dev.mongodb);
    const creates = load.ended.filter(({ kind }) => kind === "create");
    const wanted = creates.map(({ tenantId, documentId }) => `${tenantId} ${documentId} ${actorOf(tenantId)}`);
    const heads = await mongo.db(stack.database).collection("heads").find({ status: "draft" }).toArray();
    const found = heads.map(({ tenantId, documentId, createdBy }) => `${tenantId} ${documentId} ${createdBy.actor}`);
    expect(found.toSorted()).toEqual(wanted.toSorted());
  });
});

function actorOf(tenantId: string): string {
  const { apiKey = "" } = stack.dev.tenants.find(({ id }) => id === tenantId) ?? {};
  return `key:${apiKey.split("_")[1]}`;
}
