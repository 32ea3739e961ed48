import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, expect, inject, test, vi } from "vitest";
import { MongoClient } from "mongodb";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { expectStated } from "./support/expect-stated.ts";
import { digest, kekFiles, runSigning, signaturesOf } from "./support/running-signing.ts";

const stack = new AsyncDisposableStack();
const keks = stack.use(kekFiles());
const client = stack.use(new MongoClient(inject("mongoUrl")));
const variables = { SIGNING_KEK_FILE: keks.make(1), GRPC_PORT: "0" };
const asAdmin = { headers: { "vidimus-role": "admin", "vidimus-actor": "test" } };
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
afterAll(() => stack.disposeAsync());

async function open(database = testDatabaseName("signing")) {
  const signing = await runSigning(database, variables);
  const admin = openRpcClient(KeyAdminService, { target: `127.0.0.1:${signing.service.grpcPort}` });
  const states = async () => {
    const { keys } = await admin.listRing({}, asAdmin);
    return keys.map(({ state }) => state);
  };
  const sign = async () => signaturesOf(await signing.signing.signSnapshots({ items: [digest()] }))[0]!.keyId;
  return {
    ...signing,
    admin,
    states,
    sign,
    async [Symbol.asyncDispose]() {
      admin[Symbol.dispose]();
      await signing[Symbol.asyncDispose]();
    },
  };
}

test("without GRPC_PORT, signing opens no admin door", async () => {
  await using signing = await runSigning(testDatabaseName("signing"), { SIGNING_KEK_FILE: variables.SIGNING_KEK_FILE });
  expect(signing.service.grpcPort).toBeUndefined();
});

test("every method of the admin door needs the role owner or admin", async () => {
  await using signing = await open();
  const { [Symbol.dispose]: _, ...methods } = signing.admin;
  for (const method of Object.values(methods)) {
    const call = method as (request: object, options: object) => Promise<unknown>;
    for (const headers of [{}, { "vidimus-role": "editor" }]) {
      await expect(call({}, { headers })).rejects.toMatchObject({ code: Code.PermissionDenied });
    }
  }
  expect(await signing.states()).toEqual(["active", "pending"]);
  const asOwner = { headers: { ...asAdmin.headers, "vidimus-role": "owner" } };
  expect((await signing.admin.listRing({}, asOwner)).keys).toHaveLength(2);
});

test("the audit log has exactly the changes that operators made, newest first", async () => {
  await using signing = await open();
  const [, standby] = (await signing.admin.listRing({}, asAdmin)).keys;
  const [keyId, emergency] = [standby!.keyId, true];
  await expect(signing.admin.activateKey({ keyId }, asAdmin)).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await signing.admin.activateKey({ keyId, emergency }, asAdmin);
  const { key } = await signing.admin.prepareKey({}, asAdmin);
  await signing.admin.retireKey({ keyId: key!.keyId }, asAdmin);
  await signing.admin.revokeKey({ keyId }, asAdmin);
  const { entries } = await signing.admin.listAuditEntries({}, asAdmin);
  const told = entries.map(({ action, subject, detailJson }) => {
    return [action, subject, JSON.parse(Buffer.from(detailJson).toString()) as unknown];
  });
  expect(told).toEqual([
    ["revoke_key", keyId, { emergency: false }],
    ["retire_key", key!.keyId, { emergency: false }],
    ["prepare_key", key!.keyId, { emergency: false }],
    ["activate_key", keyId, { emergency: true }],
  ]);
  for (const entry of entries) expect(entry).toMatchObject({ actor: "test", role: "admin", fromAddress: "127.0.0.1" });
  const { revision } = await signing.admin.listRing({}, asAdmin);
  await expect(signing.admin.retireKey({ keyId }, asAdmin)).rejects.toMatchObject({ code: Code.FailedPrecondition });
  expect(await signing.admin.listRing({}, asAdmin)).toMatchObject({ revision });
  expect((await signing.admin.listAuditEntries({}, asAdmin)).entries).toHaveLength(4);
});

/** A delegation of a process's list key by a root, for almost 400 days. */
async function delegationBy(root: KeyObject, { admin }: Awaited<ReturnType<typeof open>>) {
  const { listKey } = await admin.listRing({}, asAdmin);
  const validUntil = new Date(Date.now() + 400 * 86_400_000 - 60_000);
  const delegated = ["vidimus-trust-root-v1", listKey!.keyId, base64(listKey!.publicKey), validUntil.toISOString()];
  const signature = sign(null, Buffer.from(delegated.join("\n")), root);
  return { validUntil, delegation: [...delegated, base64(signature)].join("\n") };
}

const spki = (key: KeyObject) => key.export({ format: "der", type: "spki" });

test("a delegation that another root than the given one signed is refused", async () => {
  await using signing = await open();
  const [root, other] = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
  const { delegation } = await delegationBy(root.privateKey, signing);
  const install = signing.admin.installDelegation({ delegation, rootPublicKey: spki(other.publicKey) }, asAdmin);
  await expect(install).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: "the delegation was not signed by this root",
  });
});

test("the trust list carries a delegation as soon as it is installed", async () => {
  await using signing = await open();
  const { listKey } = await signing.admin.listRing({}, asAdmin);
  expect(listKey?.delegatedUntil).toBeUndefined();
  const root = generateKeyPairSync("ed25519");
  const { delegation, validUntil } = await delegationBy(root.privateKey, signing);
  const before = await signing.trustList.listKeys({});
  expect(before.stated?.delegation).toBe("");
  const { revision, listKey: installed } = await signing.admin.installDelegation(
    { delegation, rootPublicKey: spki(root.publicKey) },
    asAdmin,
  );
  expect(timestampDate(installed!.delegatedUntil!)).toEqual(validUntil);
  const { entries } = await signing.admin.listAuditEntries({}, asAdmin);
  expect(entries).toMatchObject([{ action: "install_delegation", subject: listKey!.keyId, actor: "test" }]);
  const list = await signing.trustList.listKeys({});
  expect(list).toMatchObject({ revision, body: before.body, stated: { delegation } });
  expectStated(list);
});

test("the end of an installed delegation is a metric", async () => {
  await using signing = await open();
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { delegation, validUntil } = await delegationBy(privateKey, signing);
  await signing.admin.installDelegation({ delegation, rootPublicKey: spki(publicKey) }, asAdmin);
  const expiry = `vidimus_trust_delegation_expiry_seconds{service="signing"} ${validUntil.getTime() / 1000}`;
  const metrics = async () => (await fetch(`http://127.0.0.1:${signing.service.opsPort}/metrics`)).text();
  await vi.waitFor(async () => expect(await metrics()).toContain(expiry), patient);
});

test("a prepared key cannot be activated before its validFrom without an emergency", async () => {
  await using signing = await open();
  const { key } = await signing.admin.prepareKey({}, asAdmin);
  await expect(signing.admin.activateKey({ keyId: key!.keyId }, asAdmin)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringContaining("may sign from"),
  });
});

test("a prepared key is published at once, a day before it may sign", async () => {
  await using signing = await open();
  const { key } = await signing.admin.prepareKey({}, asAdmin);
  expect(key).toMatchObject({ state: "pending" });
  const wait = timestampDate(key!.validFrom!).getTime() - timestampDate(key!.publishedAt!).getTime();
  expect(wait).toBe(24 * 3_600_000);
  expect((await signing.trustList.listKeys({})).keys.map(({ keyId }) => keyId)).toContain(key!.keyId);
});

test("a key that is not in the ring cannot be activated", async () => {
  await using signing = await open();
  await expect(signing.admin.activateKey({ keyId: "ed25519-none" }, asAdmin)).rejects.toMatchObject({
    code: Code.NotFound,
  });
});

/** Signs with the first key, and activates the standby in an emergency. */
async function activateInEmergency(signing: Awaited<ReturnType<typeof open>>) {
  const [first, standby] = (await signing.admin.listRing({}, asAdmin)).keys;
  expect(await signing.sign()).toBe(first!.keyId);
  await signing.admin.activateKey({ keyId: standby!.keyId, emergency: true }, asAdmin);
  return { first, standby };
}

test("the new key signs within 10 s of an activation in an emergency", async () => {
  await using signing = await open();
  const { standby } = await activateInEmergency(signing);
  await vi.waitUntil(async () => (await signing.sign()) === standby!.keyId, { timeout: 10_000, interval: 100 });
});

test("an activation in an emergency adds a standby", async () => {
  await using signing = await open();
  await activateInEmergency(signing);
  expect(await signing.states()).toEqual(["retired", "active", "pending"]);
});

test("an activation in an emergency deletes the old private key, and keeps the old public key listed", async () => {
  await using signing = await open();
  const { first } = await activateInEmergency(signing);
  const row = await client.db(signing.database).collection("ring").findOne();
  expect(row!["keys"][0]).not.toHaveProperty("sealed");
  expect((await signing.trustList.listKeys({})).keys.map(({ keyId }) => keyId)).toContain(first!.keyId);
});

test("a revoked active key leaves no active key in the trust list while the standby may not sign yet", async () => {
  await using signing = await open();
  const [first] = (await signing.admin.listRing({}, asAdmin)).keys;
  const { activeKeyId, key } = await signing.admin.revokeKey({ keyId: first!.keyId }, asAdmin);
  expect([activeKeyId, key!.state]).toEqual(["", "revoked"]);
  const list = await signing.trustList.listKeys({});
  expect(list.activeKeyId).toBe("");
  expect(list.keys.map(({ keyId }) => keyId)).not.toContain(first!.keyId);
  const again = signing.admin.revokeKey({ keyId: first!.keyId }, asAdmin);
  await expect(again).rejects.toMatchObject({ code: Code.FailedPrecondition });
});

test("a retired standby is replaced by a new one", async () => {
  await using signing = await open();
  const [, standby] = (await signing.admin.listRing({}, asAdmin)).keys;
  await signing.admin.retireKey({ keyId: standby!.keyId }, asAdmin);
  expect(await signing.states()).toEqual(["active", "retired", "pending"]);
});

test("a ring has at most eight pending keys", async () => {
  await using signing = await open();
  for (let count = 1; count < 8; count += 1) await signing.admin.prepareKey({}, asAdmin);
  expect(await signing.states()).toEqual(["active", ...Array.from({ length: 8 }, () => "pending")]);
  await expect(signing.admin.prepareKey({}, asAdmin)).rejects.toMatchObject({ code: Code.FailedPrecondition });
});

test("an audit tells whether the ledger still contains the head that an earlier audit reported", async () => {
  await using signing = await open();
  for (let count = 0; count < 3; count += 1) await signing.sign();
  const report = await signing.admin.auditLedger({}, asAdmin);
  expect(report).toMatchObject({ batches: 3n, entries: 3n, fault: "", head: expect.stringMatching(/^[0-9a-f]{64}$/) });
  await signing.sign();
  expect(await signing.admin.auditLedger({ notedHead: report.head }, asAdmin)).toMatchObject({
    batches: 4n,
    fault: "",
  });
  await client
    .db(signing.database)
    .collection<{ _id: number }>("ledger")
    .deleteMany({ _id: { $gte: 3 } });
  const { fault } = await signing.admin.auditLedger({ notedHead: report.head }, asAdmin);
  expect(fault).toContain("no batch has the noted head");
  await expect(signing.admin.auditLedger({ notedHead: "x" }, asAdmin)).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test("the age of the active key is a metric", async () => {
  await using signing = await open();
  const metrics = await (await fetch(`http://127.0.0.1:${signing.service.opsPort}/metrics`)).text();
  const age = /^vidimus_signing_key_age_seconds\{[^}]*\} (\S+)$/m.exec(metrics)?.[1];
  expect(Number(age)).toBeGreaterThan(0);
  expect(Number(age)).toBeLessThan(60);
});
