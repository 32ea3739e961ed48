/** `npm run migrate:signing` on what version 0.1.0 stored: a ring without a seal, a row a signature. */
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { Binary, type Collection, MongoClient } from "mongodb";
import { spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { digest, kekFiles, runSigning, signaturesOf, type TestDigest } from "./running-signing.ts";

const stack = new AsyncDisposableStack();
const keks = stack.use(kekFiles());
const client = stack.use(new MongoClient(inject("mongoUrl")));
const on = { SIGNING_KEK_FILE: keks.make(1) };
afterAll(() => stack.disposeAsync());

function migrate(database: string) {
  const env = { PATH: process.env["PATH"], MONGODB_URL: inject("mongoUrl"), MONGODB_DATABASE: database, ...on };
  const program = join(import.meta.dirname, "../src/migrate.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], { env, encoding: "utf8" });
  return { status, said: stdout + stderr };
}

async function signAll({ signing }: Awaited<ReturnType<typeof runSigning>>, items: TestDigest[]) {
  const signatures = [];
  for (let at = 0; at < items.length; at += 256) {
    signatures.push(...signaturesOf(await signing.signSnapshots({ items: items.slice(at, at + 256) })));
  }
  return signatures;
}

/** A database as version 0.1.0 left it, with the signatures of some snapshots. */
async function firstBuild(count: number) {
  const database = testDatabaseName("signing");
  const db = client.db(database);
  const items = Array.from({ length: count }, () => digest());
  await using signing = await runSigning(database, on);
  const signed = await signAll(signing, items);
  await signing[Symbol.asyncDispose]();
  const rows = signed.map(({ keyId, statement, value }, index) => {
    const { tenantId, documentId, sha256 } = items[index]!;
    const signedAt = new Date();
    const binary = new Binary(sha256);
    return { tenantId, documentId, sequence: 1, keyId, signedAt, statement, sha256: binary, value: new Binary(value) };
  });
  if (rows.length > 0) await db.collection("ledger").insertMany(rows);
  await db.collection("ledger_batches").drop();
  const rings: Collection = db.collection("ring");
  await rings.updateOne({}, { $unset: { seal: "", mac: "", "keys.0.activeSince": "" } });
  return { database, db, rings, items, signed };
}

test("the ring is sealed, the signatures are moved, once, and both serve on", async () => {
  const { database, db, items, signed } = await firstBuild(600);
  expect(await db.collection("ledger").countDocuments()).toBe(600);
  await expect(runSigning(database, on)).rejects.toThrow("npm run migrate:signing");
  expect(migrate(database)).toEqual({
    status: 0,
    said: `database ${database}: the key ring is sealed, revision 2; 600 signatures moved\n`,
  });
  expect(migrate(database)).toEqual({
    status: 0,
    said: `database ${database}: no ring without a seal; 0 signatures moved\n`,
  });
  await using signing = await runSigning(database, on);
  expect(await signAll(signing, items)).toEqual(signed);
});

test("a migration that was interrupted goes on where it was", async () => {
  const { database, db, items, signed } = await firstBuild(20);
  const rows = await db.collection("ledger").find().toArray();
  expect(migrate(database).said).toContain("20 signatures moved");
  await db.collection("ledger").insertMany(rows.slice(10));
  expect(migrate(database).said).toContain("10 signatures moved");
  await using signing = await runSigning(database, on);
  expect(await signAll(signing, items)).toEqual(signed);
});

test("a planted key is not sealed", async () => {
  const { database, rings } = await firstBuild(0);
  const spki = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "der" });
  const keyId = `ed25519-${createHash("sha256").update(spki).digest("base64url").slice(0, 16)}`;
  const { keys } = (await rings.findOne())!;
  const stolen = { ...keys[1], keyId, publicKey: spki };
  for (const key of [stolen, { ...stolen, state: "retired", sealed: null }]) {
    await rings.updateOne({}, { $set: { "keys.2": key } });
    const { status, said } = migrate(database);
    expect(status).not.toBe(0);
    expect(said).toContain(keyId);
    expect(await rings.findOne()).not.toHaveProperty("mac");
  }
});

test("a planted signature is not moved", async () => {
  const { database, db, items } = await firstBuild(3);
  await db
    .collection("ledger")
    .updateOne({ documentId: items[1]!.documentId }, { $set: { value: new Binary(Buffer.alloc(64)) } });
  const { status, said } = migrate(database);
  expect(status).not.toBe(0);
  expect(said).toContain(`no key of the ring made the signature of demo/${items[1]!.documentId}/1`);
  expect(await db.collection("ledger").countDocuments()).toBe(3);
});
