/**
 * The restore drill: five databases, each from another moment, come back in an empty cluster by the
 * commands of docs/operations.md. Nothing that was published before the backup of documents is
 * lost, and no webhook id ever comes with two bodies.
 */
import { openMongod } from "@vidimus/devstack/backing/mongod";
import type { BackingServer } from "@vidimus/devstack/backing/server";
import { type DevStack, openDevStack } from "@vidimus/devstack/stack/dev-stack";
import { freePorts } from "@vidimus/devstack/testing/free-ports";
import { MongoClient } from "mongodb";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { backUp, type DatabaseBackup, restoreBackup } from "../support/database-backup.ts";
import { type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, payloadOf, type Receiver } from "../support/receiver.ts";
import { vidimus } from "../support/vidimus.ts";
import { failedChecks, snapshotBytes, type TrustedKey } from "../support/webhook-checks.ts";

const root = join(import.meta.dirname, "../..");
const opened = new AsyncDisposableStack();
/** Documents whose webhooks the receiver refuses. */
const refused = new Set<string>();
const backups = new Map<string, DatabaseBackup>();
let dir: string;
let env: NodeJS.ProcessEnv;
let receiver: Receiver;
let secret: string;
let endpointId: string;
let stack: DevStack;
let mongo: MongoClient;
let cluster: BackingServer;
let room: Newsroom;
let runbook: string[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "vidimus-drill-"));
  opened.defer(() => rm(dir, { recursive: true, force: true }));
  const { NATS_URL: _, ...inherited } = process.env;
  env = { ...inherited, LOG_LEVEL: "warn", ...(await freePorts()) };
  receiver = opened.use(await openReceiver());
  receiver.answerWith((webhook) => (refused.has(payloadOf(webhook).data.documentId) ? 400 : 204));
  const text = await readFile(join(root, "docs/operations.md"), "utf8");
  const [, block = ""] = /```sh\n(npm run -s restore.*?)```/s.exec(text) ?? [];
  // The scripts run without npm, which would take half of the time.
  const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  runbook = block
    .trim()
    .replaceAll(/npm run -s (\S+) --/g, (_, name: string) => scripts[name]!.replace("exec node", process.execPath))
    .split("\n");
  await openCluster("first");
  await start();
  const created = await room.endpoints.createEndpoint({ tenantId: room.tenantId, url: receiver.url });
  secret = created.secret;
  endpointId = created.endpoint!.endpointId;
});

afterAll(async () => {
  await stop();
  await mongo?.close();
  await cluster?.[Symbol.asyncDispose]();
  await opened.disposeAsync();
});

/** Replaces the MongoDB by an empty one, and deletes what the broker has stored. */
async function openCluster(name: string): Promise<void> {
  await mongo?.close();
  await cluster?.[Symbol.asyncDispose]();
  await rm(join(dir, ".vidimus/data"), { recursive: true, force: true });
  cluster = await openMongod({ dataDir: join(dir, name), port: 0, logFile: join(dir, `${name}.log`) });
  mongo = await MongoClient.connect(cluster.url);
  env = { ...env, MONGODB_URL: cluster.url };
}

async function start(): Promise<void> {
  stack = await openDevStack({ stateDir: join(dir, ".vidimus"), env, report: () => {} });
  room = openNewsroom(stack.dev);
}

async function stop(): Promise<void> {
  room?.[Symbol.dispose]();
  await stack?.[Symbol.asyncDispose]();
}

async function back(service: string): Promise<void> {
  backups.set(service, await backUp(mongo, `vidimus_${service}`));
}

async function restore(service: string): Promise<void> {
  await restoreBackup(mongo.db(`vidimus_${service}`), backups.get(service)!);
}

/** Runs the commands of the runbook as a shell does. */
async function runCommands(commands: readonly string[]): Promise<string> {
  const script = ["set -euo pipefail", ...commands].join("\n");
  const settings = { ...env, SIGNING_KEK_FILE: join(dir, ".vidimus/kek"), NODE_OPTIONS: "" };
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: root, env: settings });
  return stdout;
}

const cli = (...argv: string[]) => vidimus(argv, { cwd: dir });

async function publish(): Promise<string> {
  const id = await room.push();
  await room.transition(id, "publish");
  await receiver.about(id);
  return id;
}

async function publishRefused(): Promise<string> {
  const id = await room.push();
  refused.add(id);
  await room.transition(id, "publish");
  const rows = mongo.db("vidimus_delivery").collection("deliveries");
  await vi.waitFor(
    async () => expect(await rows.countDocuments({ documentId: id, attemptCount: { $gt: 0 } })).toBe(1),
    patient,
  );
  return id;
}

async function untilSettled(): Promise<void> {
  const snapshots = mongo.db("vidimus_documents").collection("snapshots");
  await vi.waitFor(async () => expect(await snapshots.countDocuments({ pending: true })).toBe(0), 20_000);
}

/** The body of the first webhook about a document. */
const firstBody = (id: string) => receiver.received.find((each) => payloadOf(each).data.documentId === id)!.body;

async function expectGenuine(): Promise<void> {
  const bodies = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.received) {
    const id = String(headers["webhook-id"]);
    bodies.set(id, (bodies.get(id) ?? new Set()).add(createHash("sha256").update(body).digest("hex")));
  }
  expect([...bodies].filter(([, hashes]) => hashes.size > 1)).toEqual([]);
  const { keys } = (await (await fetch(`${stack.dev.gateway}/api/keys`)).json()) as { keys: TrustedKey[] };
  const failed = await Promise.all(receiver.received.map((webhook) => failedChecks(webhook, secret, keys)));
  expect(failed.flat()).toEqual([]);
}

const phrase = (text: string) => JSON.stringify({ language: "en", phrase: text });
const json = { "content-type": "application/json" };
const putPhrase = (text: string) => room.request("/v1/phrases", { method: "PUT", headers: json, body: phrase(text) });

test("databases restored from five moments lose no backed-up snapshot, and no webhook id has two bodies", async () => {
  const withheldLater = await publish();
  await putPhrase("kept");
  await back("access");
  await back("phrases");
  await putPhrase("lost");
  const { code } = await cli("keys", "create", "--tenant", "demo", "--name", "late", "--scopes", "documents:create");
  expect(code).toBe(0);
  await back("signing");
  const unknownToLedger = await publish();
  const owed = await publishRefused();
  const deliveryAt = new Date();
  await back("delivery");
  const unknownToDelivery = await publish();
  const neverDelivered = await publishRefused();
  await untilSettled();

  const { delivery = Number.NaN } = stack.dev.pids;
  process.kill(delivery, "SIGSTOP");
  const pending = await room.push();
  await room.transition(pending, "publish");
  await back("documents");
  process.kill(delivery, "SIGCONT");
  await receiver.about(pending);
  await room.transition(withheldLater, "withhold", "admin");
  await receiver.about(withheldLater, { sequence: 2 });
  const forgotten = await publish();
  await stop();

  await openCluster("second");
  for (const service of backups.keys()) await restore(service);
  const said = await runCommands(runbook);
  expect(said).toContain("new snapshots are numbered above 2000; 1 snapshots of 1 documents renumbered");
  expect(said).toMatch(/database vidimus_signing: the key ring is at revision 1[0-9]{9}$/m);
  refused.clear();
  const before = receiver.received.length;
  await start();

  const later = (id: string) =>
    receiver.received.slice(before).filter((each) => payloadOf(each).data.documentId === id);
  await vi.waitFor(() => expect(later(owed)).not.toEqual([]), 30_000);
  expect(later(owed).map(({ body }) => body)).toEqual([firstBody(owed)]);
  await vi.waitFor(() => expect(later(pending)).not.toEqual([]), 30_000);
  expect(payloadOf(later(pending)[0]!).data.sequence).toBe(2001);
  expect(snapshotBytes(later(pending)[0]!.body)).toEqual(snapshotBytes(firstBody(pending)));
  const since = ["--since", deliveryAt.toISOString(), "--states", "missing"];
  expect(await cli("deliveries", "replay", endpointId, "--tenant", "demo", ...since)).toMatchObject({ code: 0 });
  for (const id of [unknownToDelivery, neverDelivered]) {
    expect(later(id).map(({ body }) => body)).toEqual([firstBody(id)]);
  }
  expect(later(unknownToLedger)).toEqual([]);

  await room.transition(withheldLater, "withhold", "admin");
  await receiver.about(withheldLater, { sequence: 2001 });
  await room.push({ id: forgotten, meta: { slug: `new-${forgotten}`, language: "en" } });
  await room.transition(forgotten, "publish");
  await receiver.about(forgotten, { sequence: 2001 });
  await publish();
  await untilSettled();
  await expectGenuine();
  expect(await cli("signing-keys", "audit")).toMatchObject({ code: 0 });
  expect(await (await room.request("/v1/phrases?language=en")).text()).toMatch(/kept/);
  expect(await (await room.request("/v1/phrases?language=en")).text()).not.toMatch(/lost/);
  expect((await cli("keys", "list", "--tenant", "demo")).stdout).not.toMatch(/late/);
}, 120_000);

test("after a restore of documents alone, deliveries of lost snapshots hold back no new snapshot", async () => {
  const kept = await publish();
  await untilSettled();
  await back("documents");
  const owed = await publishRefused();
  const forgotten = await publish();
  await room.transition(kept, "withhold", "admin");
  await receiver.about(kept, { sequence: 2002 });
  await stop();

  await restore("documents");
  const said = await runCommands(runbook.map((line) => line.replace("2000 --renumber-pending", "4000")));
  expect(said).toContain("1 deliveries given up");
  refused.clear();
  await start();
  for (const id of [owed, forgotten]) {
    await room.push({ id, meta: { slug: `again-${id}`, language: "en" } });
    await room.transition(id, "publish");
    await receiver.about(id, { sequence: 4001 });
  }
  await room.transition(kept, "withhold", "admin");
  await receiver.about(kept, { sequence: 4001 });
  await untilSettled();
  await expectGenuine();
}, 120_000);
