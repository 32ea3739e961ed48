import { openThreeNodes, type ThreeNodes } from "@vidimus/devstack/testing/three-nodes";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { article, type Publishing, runPublishing } from "./support/publishing.ts";

const tenantId = "failover";
let set: ThreeNodes;
let service: Publishing;

beforeAll(async () => {
  set = await openThreeNodes();
  service = await runPublishing({ mongoUrl: set.url, natsUrl: inject("natsUrl") });
}, 120_000);
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await set?.[Symbol.asyncDispose]();
}, 60_000);

async function publish(): Promise<string> {
  const id = await service.create(tenantId, article());
  await service.take(tenantId, id, "publish");
  return id;
}

async function readPage(ifNoneMatch = "") {
  const query = { tenantId, type: "core/article", limit: 50, ifNoneMatch };
  const answer = await service.published.listPublishedDocuments(query, { timeoutMs: 30_000 });
  return { ...answer, ids: idsOf(answer.itemsJson) };
}

async function readChanges(since = "") {
  const answer = await service.published.listPublishedChanges({ tenantId, since, limit: 50 }, { timeoutMs: 30_000 });
  return { ...answer, ids: idsOf(answer.itemsJson) };
}

function idsOf(itemsJson: Uint8Array): string[] {
  const items: { id: string }[] = JSON.parse(Buffer.from(itemsJson).toString() || "[]");
  return items.map(({ id }) => id);
}

/** Keeps the second node in the state of one that has not heard yet what a majority holds. */
function holdSnapshots(mode: "alwaysOn" | "off") {
  return set.second.command({ configureFailPoint: "disableSnapshotting", mode });
}

/**
 * Holds this many reads of publications on the first node, and then fails them as a step-down does.
 */
async function holdReads(times: number): Promise<{ held: Promise<unknown> }> {
  const namespace = `${service.database}.publications`;
  const fault = { failCommands: ["find"], namespace, blockConnection: true, blockTimeMS: 4_000, errorCode: 11602 };
  const command = { configureFailPoint: "failCommand", mode: { times }, data: fault };
  const { count } = (await set.first.command(command)) as { count: number };
  const wait = { waitForFailPoint: "failCommand", timesEntered: count + times, maxTimeMS: 10_000 };
  return { held: set.first.command(wait) };
}

/**
 * Reads of publications that the second node has begun, those that still wait for a snapshot
 * included.
 */
async function readsOnSecond(): Promise<number> {
  const command = { currentOp: true, "command.find": "publications", "command.$db": service.database };
  const { inprog } = (await set.second.command(command)) as { inprog: unknown[] };
  return inprog.length;
}

test("neither an entity tag nor a feed token hides a document when clock and rows come from two primaries", async () => {
  const first = await publish();
  const { since } = await readChanges();
  await holdSnapshots("alwaysOn");
  const second = await publish();
  const { held } = await holdReads(2);
  let answered = 0;
  const counted = <T>(read: Promise<T>) => read.finally(() => (answered += 1));
  const reads = Promise.all([counted(readPage()), counted(readChanges(since))]);
  await held;
  await set.first.command({ replSetStepDown: 60, secondaryCatchUpPeriodSecs: 10 });
  await vi.waitFor(async () => expect(answered + (await readsOnSecond())).toBe(2), { timeout: 20_000, interval: 50 });
  await holdSnapshots("off");
  const [page, changes] = await reads;
  await vi.waitFor(async () => expect((await readPage()).ids).toEqual([second, first]), patient);
  // Whichever answer it got, a reader that uses its tag next gets the second document.
  const next = await readPage(page.etag);
  expect(next.notModified ? page.ids : next.ids).toEqual([second, first]);
  const later = await readChanges(changes.since);
  expect([...changes.ids, ...later.ids]).toEqual([second]);
}, 90_000);
