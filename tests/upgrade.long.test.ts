/**
 * The upgrade of docs/operations.md, and the way back, under load: two processes of every service of an
 * older commit are replaced one by one, with the migration in between. The older commit is the newest
 * one whose database of documents is a version behind; it is checked out of this clone.
 */
import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { ServiceName } from "@vidimus/devstack/stack/service-plan";
import { projectDir } from "@vidimus/devstack/paths";
import { openRpcClient } from "@vidimus/kit/rpc/client";
import { MongoClient } from "mongodb";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { type LedgerReceiver, openLedgerReceiver } from "./support/delivery-ledger.ts";
import { EdgeLoad } from "./support/edge-load.ts";
import { EditorialLoad } from "./support/editorial-load.ts";
import { article, as, openNewsroom } from "./support/newsroom.ts";
import { checkOut } from "./support/old-checkout.ts";
import { untilUsed } from "./support/replica-process.ts";
import { openReplicatedStack, type ReplicatedStack } from "./support/replicated-stack.ts";
import { transitionAll } from "./support/stored.ts";

/** Its documents has version 5 of the database, this one's 6. */
const oldCommit = "a54c249ab19d5ceb535b00cb2249d1220d9e5285";
const tenantId = "demo";
/** How long old and new processes serve side by side. */
const besideMs = 3_000;

const opened = new AsyncDisposableStack();
let old: string;
let stack: ReplicatedStack;
let receiver: LedgerReceiver;
let load: EdgeLoad;
let editors: EditorialLoad;

beforeAll(async () => {
  const dir = await mkdtemp(join(tmpdir(), "vidimus-upgrade-"));
  opened.defer(() => rm(dir, { recursive: true, force: true }));
  old = join(dir, "old");
  await checkOut(oldCommit, old);
  stack = opened.use(await openReplicatedStack(inject("mongoUrl"), old));
  receiver = opened.use(await openLedgerReceiver());
  const { gateway: gateways, documents, delivery } = stack.processes;
  using endpoints = openRpcClient(EndpointService, { target: delivery[0]!.teamsTarget });
  const { tenants } = stack.dev;
  const published = await Promise.all(tenants.map(async ({ id }) => [id, await publish(id)] as const));
  await endpoints.createEndpoint({ tenantId, url: receiver.url }, as("admin"));
  load = opened.use(new EdgeLoad({ gateways, documents, tenants, published: Object.fromEntries(published) }));
  const teams = `ipv4:${documents.map(({ teamsTarget }) => teamsTarget).join(",")}`;
  editors = opened.use(await EditorialLoad.open(teams, tenantId, 3));
  await pause(besideMs);
});
afterAll(() => opened.disposeAsync());

async function publish(id: string) {
  using room = openNewsroom(stack.dev, id);
  const articles = Array.from({ length: 5 }, () => article());
  const ids = await Promise.all(articles.map((each) => room.push(each)));
  await transitionAll(room, ids, "publish");
  return ids.map((each) => ({ id: each, slug: `ferry-${each}` }));
}

/** Replaces the processes of a service one by one. */
async function replace(service: ServiceName, from?: string): Promise<void> {
  for (const replica of stack.processes[service]) {
    await replica.stop();
    await replica.start({ MIGRATE: "off" }, from);
    if (service === "gateway") await vi.waitUntil(() => load.uses(replica), { timeout: 10_000 });
    else if (service !== "delivery") await untilUsed(replica, 1);
    await pause(besideMs);
  }
}

async function migrate(...args: string[]): Promise<string> {
  const env = { ...process.env, MONGODB_URL: stack.dev.mongodb, MONGODB_DATABASE: stack.database };
  const program = join(projectDir, "services/documents/src/migrate.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env });
  return stdout;
}

/** What has failed so far, of requests and of editors' calls. */
function failures(): string[] {
  const failed = load.ended.filter(({ kind, outcome }) => outcome !== (kind === "create" ? 201 : 200));
  return [...failed.map(({ kind, gateway, outcome }) => `${kind} at ${gateway}: ${outcome}`), ...editors.failures];
}

async function indexesOfHeads(): Promise<number> {
  await using mongo = await MongoClient.connect(stack.dev.mongodb);
  return (await mongo.db(stack.database).collection("heads").indexes()).length;
}

test("documents first: prepared, replaced, taken back, replaced again and migrated, without a failure", async () => {
  expect(await migrate("--prepare")).toContain("version 5 → 6");
  await replace("documents");
  expect(failures()).toEqual([]);
  await replace("documents", old);
  expect(failures()).toEqual([]);
  await replace("documents");
  const before = await indexesOfHeads();
  expect(await migrate()).toContain("version 6 → 6");
  expect(await indexesOfHeads()).toBe(before - 1);
  expect(failures()).toEqual([]);
});

test("then signing, phrases, delivery and the gateways, and a gateway back and forth", async () => {
  await replace("signing");
  await replace("phrases");
  // Old and new delivery keep their rows in different collections: none of the old ones may run on.
  for (const replica of stack.processes.delivery) await replica.stop();
  for (const replica of stack.processes.delivery) await replica.start();
  await replace("gateway");
  await replace("gateway", old);
  await replace("gateway");
  await editors[Symbol.asyncDispose]();
  await load[Symbol.asyncDispose]();
  expect(failures()).toEqual([]);
  expect(load.ended.length).toBeGreaterThan(3_000);
});

test("every snapshot arrived, in order the first time, and every document that was acknowledged is stored", async () => {
  const { ledger } = receiver;
  await vi.waitFor(() => expect(ledger.missing(editors.documents, true)).toEqual([]), { timeout: 60_000 });
  // Delivery of the older commit cannot settle what it sends while documents is new, so delivery of this
  // one sends it again, the same. Nothing comes out of order the first time.
  const isRepeat = (fault: string) => /: post \d+ came after \d+ was accepted$/.test(fault);
  expect(ledger.faults().filter((fault) => !isRepeat(fault))).toEqual([]);
  await using mongo = await MongoClient.connect(stack.dev.mongodb);
  const heads = mongo.db(stack.database).collection("heads");
  const created = load.ended.filter(({ kind }) => kind === "create");
  const $in = created.map(({ documentId }) => documentId!);
  expect(await heads.countDocuments({ documentId: { $in } })).toBe(created.length);
});
