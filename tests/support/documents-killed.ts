import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Item, type Page, success } from "./answers.ts";
import { readTraces, type StoredSnapshot, type Trace, traceFaults } from "./document-traces.ts";
import { type Load, startLoad } from "./documents-load.ts";
import { killAnywhere, killInTransaction, untilRestarted, untilServed } from "./kill-documents.ts";
import { type Newsroom, openNewsroom } from "./newsroom.ts";
import { openReceiver, payloadOf, type Receiver } from "./receiver.ts";
import { failedChecks, snapshotBytes, type TrustedKey } from "./webhook-checks.ts";

const database = "vidimus_documents";
const stacked = new AsyncDisposableStack();
let stack: ProcessConstellation;
let mongo: MongoClient;
let receiver: Receiver;
let room: Newsroom;
let load: Load;
let secret: string;
let traces: Map<string, Trace>;
/** Faults at the moment of a kill: steps that were lost, or of which only a part was stored. */
const halves: string[] = [];

/**
 * Registers a hook that kills the documents process under load, and tests of what is stored, read
 * and delivered afterwards. A file can call it once.
 */
export function describeKills(kills: number): void {
  beforeAll(async () => {
    await open();
    load = startLoad(room);
    await untilServed(load);
    for (let kill = 0; kill < kills; kill++) {
      const { createUnknown, transitionUnknown } = load.counts;
      const pid = await (kill % 2 === 0 ? killInTransaction(stack, mongo) : killAnywhere(stack));
      halves.push(...(await halfTransitions()));
      await untilRestarted(stack, pid);
      await untilServed(load);
      // Without unknown outcomes the kill would have interrupted no call.
      expect(load.counts.createUnknown + load.counts.transitionUnknown).toBeGreaterThan(
        createUnknown + transitionUnknown,
      );
    }
    await load.stop();
    await untilDelivered();
    traces = await readTraces(mongo, room.tenantId);
  }, 300_000);

  afterAll(async () => {
    await stacked.disposeAsync();
  });

  describe(`after ${kills} kills of the documents process under load`, promises);
}

/** Faults of the rows that the dead process left, before the next process could change them. */
async function halfTransitions(): Promise<string[]> {
  // A call in flight while MongoDB is read may be stored or not.
  const known = load.tracked.map((tracked) => ({ ...tracked, isUnsure: true }));
  const found = await readTraces(mongo, room.tenantId);
  return known.flatMap((tracked) => traceFaults(tracked, found.get(tracked.draft.id)));
}

async function open(): Promise<void> {
  stack = stacked.use(await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" }));
  mongo = await new MongoClient(stack.dev.mongodb).connect();
  stacked.defer(() => mongo.close());
  receiver = stacked.use(await openReceiver());
  room = stacked.use(openNewsroom(stack.dev));
  const endpoint = await room.endpoints.createEndpoint({ tenantId: room.tenantId, url: receiver.url });
  secret = endpoint.secret;
}

/**
 * Waits until every snapshot is delivered, at most 60 s; the tests name those that are missing
 * then.
 */
async function untilDelivered(): Promise<void> {
  const made = await mongo.db(database).collection("snapshots").countDocuments({ tenantId: room.tenantId });
  const isDone = async () => {
    const arrived = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
    return arrived.size >= made && (await countPending()) === 0;
  };
  await vi.waitUntil(isDone, { timeout: 60_000, interval: 50 }).catch(() => {});
}

const countPending = () => mongo.db(database).collection("snapshots").countDocuments({ pending: true });

function promises(): void {
  test("every answer to a caller was right", () => {
    expect(load.faults).toEqual([]);
  });

  test("no kill left a transition half done, or lost an acknowledged write", () => {
    expect(halves).toEqual([]);
  });

  test("every acknowledged create, edit and transition is stored whole, and nothing else is", () => {
    const faults = load.tracked.flatMap((tracked) => traceFaults(tracked, traces.get(tracked.draft.id)));
    expect(faults).toEqual([]);
    expect(traces.size).toBe(load.tracked.length);
  });

  test("readers see every article whose last snapshot is usable, as it was published, and no other", async () => {
    const published = [...traces].filter(([, { snapshots }]) => snapshots.at(-1)?.status === "usable");
    expect(published.length).toBeGreaterThan(0);
    const wanted = published.map(([id, { snapshots }]) => {
      const { version, committedAt } = snapshots.at(-1)!;
      return `${id} ${version} ${committedAt.toISOString()}`;
    });
    const shown = (await walk()).map(({ id, meta, updated_at }) => `${id} ${meta.version} ${updated_at}`);
    expect(shown.toSorted()).toEqual(wanted.toSorted());
  });

  test("every snapshot reached the receiver, genuine, byte for byte as it is stored with its signature", async () => {
    const { bodies, faults } = await checkWebhooks();
    const snapshots = [...traces.values()].flatMap((trace) => trace.snapshots);
    faults.push(...snapshots.flatMap((snapshot) => snapshotFaults(snapshot, bodies)));
    expect(faults).toEqual([]);
    expect(bodies.size).toBe(snapshots.length);
    expect(await countPending()).toBe(0);
  });

  test("the snapshots of a document arrived in their order", () => {
    expect(lateArrivals()).toEqual([]);
  });
}

/**
 * The bodies of all webhooks by document and sequence, and their faults. A repeat is no fault;
 * another body under the same sequence is one.
 */
async function checkWebhooks(): Promise<{ bodies: Map<string, Buffer>; faults: string[] }> {
  const { keys } = (await (await room.request("/api/keys")).json()) as { keys: TrustedKey[] };
  const faults: string[] = [];
  const bodies = new Map<string, Buffer>();
  for (const webhook of receiver.received) {
    const { data } = payloadOf(webhook);
    const key = `${data.documentId} ${data.sequence}`;
    if (bodies.get(key)?.equals(webhook.body) === false) faults.push(`${key} came with two bodies`);
    bodies.set(key, webhook.body);
    faults.push(...(await failedChecks(webhook, secret, keys)).map((check) => `${key} fails ${check}`));
  }
  return { bodies, faults };
}

function snapshotFaults(snapshot: StoredSnapshot, bodies: ReadonlyMap<string, Buffer>): string[] {
  const key = `${snapshot.documentId} ${snapshot.sequence}`;
  const body = bodies.get(key);
  if (!body) return [`${key} never came`];
  const { value, statement, keyId } = payloadOf({ body }).data.signature;
  const signature = snapshot.signature;
  const isAttached =
    signature?.keyId === keyId &&
    signature.statement === statement &&
    Buffer.from(signature.value.value()).toString("base64") === value;
  return [
    ...(Buffer.from(snapshot.bytes.value()).equals(snapshotBytes(body)) ? [] : [`${key} came with other bytes`]),
    ...(isAttached ? [] : [`${key} was stored without the signature it came with`]),
  ];
}

/** Snapshots whose first webhook directly followed that of a newer one of their document. */
function lateArrivals(): string[] {
  const newest = new Map<string, number>();
  const first = new Map(receiver.received.map((webhook) => [payloadOf(webhook).id, payloadOf(webhook).data] as const));
  const late: string[] = [];
  for (const [id, { documentId, sequence }] of first) {
    if (sequence < (newest.get(documentId) ?? 0)) late.push(id);
    newest.set(documentId, sequence);
  }
  return late;
}

async function walk(): Promise<Item[]> {
  const items: Item[] = [];
  let cursor = "";
  for (;;) {
    const query = new URLSearchParams({ type: "core/article", limit: "200", cursor });
    const page = await success<Page>(room.request(`/v1/documents?${query}`), 200);
    items.push(...page.items);
    if (!page.hasMore) return items;
    cursor = page.nextCursor;
  }
}
