/**
 * Signing after its whole database was restored from a backup: key ring and ledger agree, but both
 * are old.
 */
import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { openDevClient } from "@vidimus/devstack/stack/dev-client";
import { openProcessConstellation } from "@vidimus/devstack/testing/process-constellation";
import { type Db, type Document, MongoClient } from "mongodb";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { as, openNewsroom } from "../support/newsroom.ts";
import { openReceiver, payloadOf } from "../support/receiver.ts";

const patient = { timeout: 60_000, interval: 100 };
const collections = ["ring", "ledger"];

async function dump(db: Db): Promise<Document[][]> {
  return Promise.all(collections.map((name) => db.collection(name).find().toArray()));
}

async function restore(db: Db, rows: readonly Document[][]): Promise<void> {
  for (const [index, name] of collections.entries()) {
    await db.collection(name).deleteMany({});
    await db.collection(name).insertMany([...rows[index]!]);
  }
}

test(
  "a snapshot waits rather than be sent signed by a revoked key that a restored backup made active",
  { timeout: 180_000 },
  async () => {
    await using stack = await openProcessConstellation({ IP_RATE_LIMIT: "off" });
    await using receiver = await openReceiver();
    using newsroom = openNewsroom(stack.dev);
    using admin = openDevClient(stack.dev, "signing", KeyAdminService);
    await using mongo = await new MongoClient(stack.dev.mongodb).connect();
    const db = mongo.db("vidimus_signing");
    await newsroom.endpoints.createEndpoint({ tenantId: newsroom.tenantId, url: receiver.url });
    const publish = async () => {
      const documentId = await newsroom.push();
      await newsroom.transition(documentId, "publish");
      return documentId;
    };
    const keyIdOf = async (documentId: string) =>
      payloadOf(await receiver.about(documentId, { ms: 60_000 })).data.signature.keyId;
    const trustList = async () => (await fetch(`${stack.dev.gateway}/api/keys`)).json();
    const restartSigning = async () => {
      const { pids } = await stack.current();
      process.kill(pids["signing"]!, "SIGKILL");
      await vi.waitUntil(async () => (await stack.current()).pids["signing"] !== pids["signing"], patient);
    };

    /** How often delivery has found the trust list older than its own. It looks before it sends. */
    const olderLists = async () => {
      const metrics = await (await fetch(`${stack.dev.ops.delivery}/metrics`)).text();
      return Number(/^vidimus_trust_list_older_total\S* (\d+)$/m.exec(metrics)?.[1]);
    };

    const leaked = await keyIdOf(await publish());
    const old = await dump(db);
    const { activeKeyId } = await admin.revokeKey({ keyId: leaked, emergency: true }, as("admin"));
    await vi.waitUntil(async () => (await keyIdOf(await publish())) === activeKeyId, patient);
    const { revision } = await admin.listRing({}, as("admin"));
    const kept = mongo.db("vidimus_delivery").collection<{ revision: number }>("trust_list");
    await vi.waitUntil(async () => (await kept.findOne())?.revision === Number(revision), patient);
    const newest = await dump(db);
    const list = await trustList();

    await restore(db, old);
    await restartSigning();
    const documentId = await publish();
    const log = () => readFile(join(stack.stateDir, "logs", "delivery.log"), "utf8");
    await vi.waitUntil(async () => (await log()).includes('"alarm":"trust_list"'), patient);
    const seen = await olderLists();
    await vi.waitUntil(async () => (await olderLists()) >= seen + 3, patient);
    const about = () => receiver.received.filter(({ body }) => payloadOf({ body }).data.documentId === documentId);
    expect(about()).toEqual([]);
    expect(await trustList()).toEqual(list);

    await restore(db, newest);
    await restartSigning();
    expect(await keyIdOf(documentId)).toBe(activeKeyId);
  },
);
