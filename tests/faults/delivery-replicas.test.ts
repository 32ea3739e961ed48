/**
 * Three delivery processes, of which one ends, starts or hangs, and the order of one document's
 * snapshots.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { snapshotSubject } from "@vidimus/contracts/snapshot-subject";
import { SnapshotReferencesSchema } from "@vidimus/contracts/vidimus/events/v1/snapshot_reference";
import { MongoClient } from "mongodb";
import { connect } from "nats";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { type DeliveryLedger, type LedgerReceiver, openLedgerReceiver } from "../support/delivery-ledger.ts";
import { type DeliveryStack, openDeliveryStack } from "../support/delivery-stack.ts";
import { PublishingRun } from "../support/publishing-run.ts";
import type { ReplicaProcess } from "../support/replica-process.ts";

const tenants = Array.from({ length: 12 }, (_, at) => `tenant_${at}`);
const timeoutMs = 120_000;
const opened = new AsyncDisposableStack();
let stack: DeliveryStack;
let receiver: LedgerReceiver;
let mongo: MongoClient;

beforeAll(async () => {
  mongo = await new MongoClient(inject("mongoUrl")).connect();
  opened.defer(() => mongo.close());
  receiver = opened.use(await openLedgerReceiver());
  stack = opened.use(await openDeliveryStack({ mongoUrl: inject("mongoUrl") }));
  for (const tenantId of tenants) await stack.createEndpoint(tenantId, receiver.url);
});
afterAll(() => opened.disposeAsync());

const signal = (processes: readonly ReplicaProcess[], name: NodeJS.Signals) => {
  for (const each of processes) process.kill(each.pid(), name);
};

/** Publishes a new document of each tenant in turn, every 50 ms, until it is told to stop. */
function publishSteadily() {
  const run = new PublishingRun(stack.editor);
  const published: { documentId: string; atMs: number; sequence: number }[] = [];
  const over = new AbortController();
  const ended = (async () => {
    const drafts = await Promise.all(tenants.map((tenantId) => run.create(tenantId, 60)));
    for (let at = 0; !over.signal.aborted && at < 60 * tenants.length; at++) {
      const document = drafts[at % tenants.length]!.pop()!;
      await run.advance([document], 1);
      published.push({ documentId: document.documentId, atMs: performance.now(), sequence: 1 });
      await pause(50);
    }
  })();
  return {
    published,
    async stop() {
      over.abort();
      await ended;
    },
  };
}

/** How long each publication took to its first post, in the order of publication. */
function latencies(ledger: DeliveryLedger, published: readonly { documentId: string; atMs: number }[]) {
  const first = new Map<string, number>();
  for (const { documentId, atMs } of ledger.posts) if (!first.has(documentId)) first.set(documentId, atMs);
  return published.map(({ documentId, atMs }) => ({ atMs, tookMs: (first.get(documentId) ?? Infinity) - atMs }));
}

describe("of three delivery processes", { timeout: timeoutMs }, () => {
  it("while one hangs, the others send snapshots from before within 25 s, and later ones within 6.5 s", async () => {
    const load = publishSteadily();
    await vi.waitUntil(() => load.published.length > 40, { timeout: 30_000 });
    const deliveries = mongo.db(stack.databases.delivery).collection("deliveries");
    const isAllEnded = async () => {
      const hasArrived = latencies(receiver.ledger, load.published).every(({ tookMs }) => tookMs < Infinity);
      return hasArrived && (await deliveries.countDocuments({ state: "pending" })) === 0;
    };
    const before = load.published.length;
    const stoppedMs = performance.now();
    signal(stack.deliveries.slice(0, 1), "SIGSTOP");
    try {
      await vi.waitUntil(() => load.published.length > before + 110, { timeout: 30_000 });
      await load.stop();
      // The first process goes on only after the others have ended its deliveries, which they take
      // over when its lease of 20 s has run out.
      await vi.waitUntil(isAllEnded, { timeout: 30_000, interval: 100 });
    } finally {
      signal(stack.deliveries.slice(0, 1), "SIGCONT");
    }
    const took = latencies(receiver.ledger, load.published);
    const held = took.filter(({ atMs }) => atMs < stoppedMs + 100);
    const others = took.filter(({ atMs }) => atMs >= stoppedMs + 100);
    expect(others.length).toBeGreaterThan(100);
    expect(Math.max(...held.map(({ tookMs }) => tookMs))).toBeLessThan(25_000);
    expect(Math.max(...others.map(({ tookMs }) => tookMs))).toBeLessThan(6_500);
    await receiver.ledger.expectDelivered(load.published, { each: true });
  });

  it("one leaves, one is killed and both come back: every document's snapshots arrive in order", async () => {
    const run = new PublishingRun(stack.editor);
    for (const tenantId of tenants) await run.create(tenantId, 20);
    const publishing = run.advance(run.published, 6);
    const [first, second] = stack.deliveries;
    await vi.waitUntil(() => run.count > 200, { timeout: 30_000 });
    await first!.restart();
    await second!.kill();
    await publishing;
    await second!.start();
    await receiver.ledger.expectDelivered(run.published, { each: true });
    await stack.untilSettled();
  });

  it("an endpoint that any one of them registers gets a new snapshot while documents has no broker", async () => {
    await stack.documents.stop();
    await stack.documents.start({ NATS_URL: "nats://127.0.0.1:1" });
    try {
      for (const [at, delivery] of stack.deliveries.entries()) {
        await using own = await openLedgerReceiver();
        const run = new PublishingRun(stack.editor);
        const documents = await run.create(`fresh_${at}`, 1);
        await stack.createEndpoint(`fresh_${at}`, own.url, delivery);
        await run.advance(documents, 1);
        await own.ledger.expectDelivered(run.published, { each: true, ms: 15_000 });
      }
    } finally {
      await stack.documents.restart();
    }
  });
});

it(
  "a withdrawal whose acceptance was not recorded is repeated, and the snapshot before it is not",
  { timeout: timeoutMs },
  async () => {
    const tenantId = "withdrawn";
    await using own = await openLedgerReceiver();
    const kills: Promise<void>[] = [];
    own.answerWith((post, response) => {
      if (post.sequence === 2 && kills.length === 0) kills.push(...stack.deliveries.map((each) => each.kill()));
      response.writeHead(post.sequence === 1 && kills.length === 0 ? 500 : 204).end();
    });
    await stack.createEndpoint(tenantId, own.url);
    const run = new PublishingRun(stack.editor);
    const documents = await run.create(tenantId, 1);
    await run.advance(documents, 1);
    await vi.waitUntil(() => own.ledger.posts.length > 0, { timeout: 20_000 });
    await run.advance(documents, 2);
    await vi.waitUntil(() => kills.length > 0, { timeout: 30_000 });
    await Promise.all(kills);
    await Promise.all(stack.deliveries.map((each) => each.start()));
    // The acceptance of the withdrawal was not recorded, so the withdrawal is sent again.
    const repeats = () => own.ledger.posts.filter(({ sequence }) => sequence === 2).length;
    await vi.waitUntil(() => repeats() > 1, { timeout: 60_000 });
    await own.ledger.expectDelivered(run.published);
    // The third snapshot shows that the lane goes on, and that the first one is never accepted.
    await run.advance(documents, 3);
    await own.ledger.expectDelivered(run.published);
    expect(own.ledger.acceptedOf(documents[0]!.documentId)).not.toContain(1);
  },
);

it(
  "a snapshot that cannot be sent holds back neither other documents nor its document's next snapshot",
  { timeout: timeoutMs },
  async () => {
    const tenantId = "poisoned";
    await using own = await openLedgerReceiver();
    await stack.createEndpoint(tenantId, own.url);
    const run = new PublishingRun(stack.editor);
    const documents = await run.create(tenantId, 101);
    signal(stack.deliveries, "SIGSTOP");
    await run.advance(documents, 1);
    const { documentId } = documents[50]!;
    const snapshots = mongo.db(stack.databases.documents).collection("snapshots");
    await snapshots.updateOne({ documentId }, { $set: { bytes: Buffer.from("{}") } });
    signal(stack.deliveries, "SIGCONT");
    const others = documents.filter((each) => each.documentId !== documentId);
    await own.ledger.expectDelivered(others, { each: true });
    await stack.untilSettled();
    expect(await snapshots.findOne({ documentId })).toMatchObject({ unsendable: expect.any(String) });
    await run.advance([documents[50]!], 2);
    await own.ledger.expectDelivered(documents);
    expect(own.ledger.acceptedOf(documentId)).toEqual([2]);
  },
);

it("a forged reference to a snapshot that is settled sends nothing", { timeout: timeoutMs }, async () => {
  const tenantId = "forged";
  const run = new PublishingRun(stack.editor);
  const [old, fresh] = await run.create(tenantId, 2);
  await run.advance([old!], 1);
  await stack.untilSettled();
  await using own = await openLedgerReceiver();
  await stack.createEndpoint(tenantId, own.url);
  const broker = await connect({ servers: stack.broker.url.replace("nats://", "") });
  const references = [{ tenantId, documentId: old!.documentId, sequence: 1n }];
  const forged = toBinary(SnapshotReferencesSchema, create(SnapshotReferencesSchema, { references }));
  for (let count = 0; count < 20; count++) broker.publish(snapshotSubject(tenantId), forged);
  await broker.flush();
  await run.advance([fresh!], 1);
  await own.ledger.expectDelivered([fresh!], { each: true });
  await stack.untilSettled();
  broker.publish(snapshotSubject(tenantId), forged);
  await run.advance([fresh!], 2);
  await own.ledger.expectDelivered([fresh!], { each: true });
  expect(own.ledger.acceptedOf(old!.documentId)).toEqual([]);
  await broker.close();
});
