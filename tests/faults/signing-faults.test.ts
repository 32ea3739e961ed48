/**
 * Signing under load: keys that are rotated and revoked, processes that are killed, signing
 * switched off.
 */
import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { openProcessConstellation, type ProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import type { RpcClient } from "@vidimus/kit/rpc/client/client";
import { localWrappedCustody } from "@vidimus/signing/custody/local-wrapped";
import type { RingKey } from "@vidimus/signing/domain/key-ring";
import { SealedRings } from "@vidimus/signing/domain/sealed-rings";
import { updateRing } from "@vidimus/signing/domain/update-ring";
import { RingStore } from "@vidimus/signing/store/ring-store";
import { type Db, MongoClient } from "mongodb";
import { createPublicKey, createSecretKey, verify } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { as, type Newsroom, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, payloadOf, type Receiver } from "../support/receiver.ts";
import { rawSecrets, secretsInFiles, secretsInRows } from "../support/secret-scan.ts";

interface TrustList {
  active: string | null;
  keys: { keyId: string; publicKey: string; validFrom: string }[];
}

const hourMs = 3_600_000;
const patient = { timeout: 40_000, interval: 100 };
let stack: ProcessConstellation;
let receiver: Receiver;
let newsroom: Newsroom;
let admin: RpcClient<typeof KeyAdminService>;
let mongo: MongoClient;
let ledger: Db;
let endpointSecret: string;

beforeAll(async () => {
  stack = await openProcessConstellation({ IP_RATE_LIMIT: "off", WRITE_BUDGET: "off" }, { signing: 2 });
  receiver = await openReceiver();
  newsroom = openNewsroom(stack.dev);
  admin = openDevClient(stack.dev, "signing", KeyAdminService);
  const created = await newsroom.endpoints.createEndpoint({ tenantId: newsroom.tenantId, url: receiver.url });
  endpointSecret = created.secret;
  mongo = await new MongoClient(stack.dev.mongodb).connect();
  ledger = mongo.db("vidimus_signing");
});

afterAll(async () => {
  await mongo?.close();
  admin?.[Symbol.dispose]();
  newsroom?.[Symbol.dispose]();
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

/** Publishes documents one after the other until it is stopped. */
function startLoad() {
  const over = new AbortController();
  const published: string[] = [];
  const running = (async () => {
    while (!over.signal.aborted) {
      const documentId = await newsroom.push();
      await newsroom.transition(documentId, "publish");
      published.push(documentId);
    }
  })();
  running.catch(() => {});
  return {
    published,
    async stop(): Promise<readonly string[]> {
      over.abort();
      await running;
      return published;
    },
  };
}

async function trustList(): Promise<TrustList> {
  return (await (await fetch(`${stack.dev.gateway}/api/keys`)).json()) as TrustList;
}

/** Whether a webhook verifies with a trust list, as a receiver does it. */
function verifies(body: Buffer, { keys }: TrustList): boolean {
  const { signature } = payloadOf({ body }).data;
  const key = keys.find(({ keyId }) => keyId === signature.keyId);
  if (!key) return false;
  const publicKey = createPublicKey({ key: Buffer.from(key.publicKey, "base64"), format: "der", type: "spki" });
  return verify(null, Buffer.from(signature.statement), publicKey, Buffer.from(signature.value, "base64"));
}

const keyIdOf = (body: Buffer) => payloadOf({ body }).data.signature.keyId;
const documentIdOf = (body: Buffer) => payloadOf({ body }).data.documentId;

/** The first webhook about each document; fails when one does not come. */
async function webhooksOf(documentIds: readonly string[]): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  for (const documentId of documentIds) bodies.push((await receiver.about(documentId, { ms: 40_000 })).body);
  return bodies;
}

/** Waits until a key has signed some webhooks. */
function untilSigned(keyId: string, count = 5): Promise<boolean> {
  const signed = () => receiver.received.filter(({ body }) => keyIdOf(body) === keyId).length;
  return vi.waitUntil(() => signed() >= count, patient);
}

/** Makes the ring as if its pending keys had been published 25 hours earlier. */
async function backdatePending(): Promise<void> {
  const kek = createSecretKey(await readFile(join(stack.stateDir, "kek")));
  const rings = new SealedRings(new RingStore(ledger), localWrappedCustody(kek));
  const earlier = (date: Date) => new Date(date.getTime() - 25 * hourMs);
  const backdated = (key: RingKey): RingKey =>
    key.state === "pending"
      ? { ...key, publishedAt: earlier(key.publishedAt), validFrom: earlier(key.validFrom) }
      : key;
  await updateRing(rings, async (ring) => ring!.keys.map(backdated));
}

/** Waits until every process is running. Returns their pids. */
async function runningPids(): Promise<Readonly<Record<string, number>>> {
  const isRunning = async (pid: number) =>
    readFile(`/proc/${pid}/environ`).then(
      ({ length }) => length > 0,
      () => false,
    );
  return vi.waitUntil(async () => {
    const { pids } = await stack.current();
    const running = await Promise.all(Object.values(pids).map(isRunning));
    return !running.includes(false) && "signing" in pids && "signing-2" in pids && pids;
  }, patient);
}

async function killSigning(signal: NodeJS.Signals): Promise<void> {
  const pids = await runningPids();
  for (const name of ["signing", "signing-2"]) process.kill(pids[name]!, signal);
}

/** How many signatures the ledger has of each snapshot. */
async function signaturesBySnapshot(): Promise<Map<string, number>> {
  const rows = await ledger
    .collection("ledger")
    .aggregate<{ _id: string; count: number }>([
      { $unwind: "$entries" },
      { $group: { _id: "$entries.snapshotKey", count: { $sum: 1 } } },
    ])
    .toArray();
  return new Map(rows.map(({ _id, count }) => [_id, count]));
}

describe("under load", () => {
  test("webhooks of all three keys verify with the trust list from before a rotation and a revocation", async () => {
    await admin.prepareKey({}, as("admin"));
    await backdatePending();
    const before = await vi.waitUntil(async () => {
      const list = await trustList();
      return list.keys.filter(({ validFrom }) => Date.parse(validFrom) <= Date.now()).length === 3 && list;
    }, patient);
    const [first, second, third] = before.keys.map(({ keyId }) => keyId);
    expect(before.active).toBe(first);

    const load = startLoad();
    await untilSigned(first!);
    await admin.activateKey({ keyId: second! }, as("admin"));
    await untilSigned(second!);
    const revoked = await admin.revokeKey({ keyId: second! }, as("admin"));
    expect(revoked.activeKeyId).toBe(third);
    await untilSigned(third!);
    const bodies = await webhooksOf(await load.stop());

    expect(new Set(bodies.map(keyIdOf))).toEqual(new Set([first, second, third]));
    expect(bodies.filter((body) => !verifies(body, before)).map(keyIdOf)).toEqual([]);
    const now = await vi.waitUntil(async () => {
      const list = await trustList();
      return list.active === third && list;
    }, patient);
    expect(now.keys.map(({ keyId }) => keyId)).toEqual(expect.arrayContaining([first, third]));
    for (const body of bodies)
      expect([keyIdOf(body), verifies(body, now)]).toEqual([keyIdOf(body), keyIdOf(body) !== second]);
  }, 120_000);

  test("every snapshot is delivered with one signature, though signing is killed and started again", async () => {
    const load = startLoad();
    for (let round = 0; round < 3; round += 1) {
      const seen = receiver.received.length;
      await vi.waitUntil(() => receiver.received.length > seen + 5, patient);
      await killSigning("SIGKILL");
    }
    const seen = receiver.received.length;
    await vi.waitUntil(() => receiver.received.length > seen + 5, patient);
    const documentIds = await load.stop();
    await webhooksOf(documentIds);
    const signatures = await signaturesBySnapshot();
    for (const documentId of documentIds) {
      const bodies = receiver.received.filter(({ body }) => documentIdOf(body) === documentId);
      expect(new Set(bodies.map(({ body }) => body.toString())).size).toBe(1);
      expect(signatures.get(`${newsroom.tenantId}/${documentId}/1`)).toBe(1);
    }
    const report = await vi.waitUntil(async () => {
      const audit = await admin.auditLedger({}, { ...as("admin"), timeoutMs: 30_000 }).catch(() => undefined);
      return audit?.documents?.unsettled === 0n && audit;
    }, patient);
    expect(report.fault).toBe("");
    expect(report.documents!.signatures).toBe(BigInt(signatures.size));
  }, 120_000);
});

test("no log, row, stream, or environment or open file of another service holds a private key or secret", async () => {
  const secrets = await rawSecrets(stack.stateDir, ledger, endpointSecret);
  expect(Object.keys(secrets).length).toBeGreaterThan(5);
  expect(await secretsInFiles(stack.stateDir, await runningPids(), secrets)).toEqual([]);
  expect(await secretsInRows(mongo, secrets)).toEqual([]);
}, 60_000);

test("the scan for secrets can fail: it finds what is planted in a log and in a row", async () => {
  const secrets = await rawSecrets(stack.stateDir, ledger, endpointSecret);
  const pids = await runningPids();
  const log = join(stack.stateDir, "logs", "planted.log");
  for (const [name, { bytes }] of Object.entries(secrets)) {
    await writeFile(log, `{"msg":"${bytes.toString("hex")}"}`);
    expect(await secretsInFiles(stack.stateDir, pids, secrets)).toEqual([`${name} in logs/planted.log`]);
  }
  await rm(log);
  const rows = Object.values(secrets).map(({ bytes }) => ({ text: `a ${bytes.toString("base64url")}` }));
  await mongo.db("scratch").collection("planted").insertMany(rows);
  const found = await secretsInRows(mongo, secrets);
  expect(found).toEqual(expect.arrayContaining(Object.keys(secrets).map((name) => `${name} in scratch.planted`)));
}, 60_000);

test("while signing is off on every replica, no snapshot is signed or posted until it is on again", async () => {
  stack.env["SIGNING"] = "off";
  await killSigning("SIGTERM");
  await vi.waitUntil(async () => (await trustList()).active === null, patient);
  const batches = () => ledger.collection("ledger").countDocuments();
  const documentIds: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const documentId = await newsroom.push();
    await newsroom.transition(documentId, "publish");
    documentIds.push(documentId);
  }
  const before = await batches();
  // Delivery has asked for signatures, and was refused.
  const refused = async () => {
    const log = await readFile(join(stack.stateDir, "logs", "delivery.log"), "utf8");
    return log.includes("signing is off");
  };
  await vi.waitUntil(refused, patient);
  expect(receiver.received.filter(({ body }) => documentIds.includes(documentIdOf(body)))).toEqual([]);
  expect(await batches()).toBe(before);
  delete stack.env["SIGNING"];
  await killSigning("SIGTERM");
  await webhooksOf(documentIds);
  await vi.waitUntil(async () => (await trustList()).active !== null, patient);
}, 120_000);
