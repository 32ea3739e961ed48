import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { auditLedger } from "../src/domain/audit-ledger.ts";
import type { SealKey } from "../src/domain/key-custody.ts";
import type { KeyRing } from "../src/domain/key-ring.ts";
import { pauseSigning } from "../src/domain/ring-changes.ts";
import { SealedRings } from "../src/domain/sealed-rings.ts";
import type { Ledger } from "../src/domain/ledger.ts";
import { type SigningKey, signDigests } from "../src/domain/sign-digests.ts";
import type { SnapshotDigest } from "../src/domain/snapshot-digest.ts";
import { tendRing } from "../src/domain/tend-ring.ts";
import { LedgerStore } from "../src/store/ledger-store.ts";
import { RingStore } from "../src/store/ring-store.ts";
import { digestOf } from "./support/running-signing.ts";
import { testCustody as custody } from "./support/test-custody.ts";

const stack = new AsyncDisposableStack();
const rules = { prepublishMs: 24 * 3_600_000, rotateAfterMs: undefined };
let mongo: Awaited<ReturnType<typeof openMongo>>;
let ring: KeyRing;
let signer: SigningKey;
let sealKey: SealKey;

beforeAll(async () => {
  mongo = await openMongo({ url: inject("mongoUrl"), database: testDatabaseName("signing"), appName: "signing-test" });
  stack.use(mongo);
  const keys = await tendRing(undefined, new Date(), rules, () => custody.generate());
  ring = { revision: 1, keys, listKey: { ...(await custody.generate()), delegation: undefined } };
  sealKey = await custody.openSealKey(await custody.generateSealKey());
  const { keyId, publicKey, sealed, validFrom } = ring.keys[0]!;
  signer = { keyId, validFrom, signer: await custody.open({ keyId, publicKey, sealed: sealed! }) };
});
afterAll(() => stack.disposeAsync());

/** Two processes' views of one database. */
function ringStores(): [SealedRings, SealedRings] {
  const db = mongo.client.db(testDatabaseName("signing"));
  return [new SealedRings(new RingStore(db), custody), new SealedRings(new RingStore(db), custody)];
}

test("another process reads the keys of a ring back as they were stored, dates and bytes included", async () => {
  const [rings, others] = ringStores();
  expect(await rings.read()).toBeUndefined();
  expect(await rings.save(ring)).toBe(true);
  expect((await others.read())?.keys.map(comparable)).toEqual(ring.keys.map(comparable));
  const off = { ...ring, revision: 2, keys: pauseSigning(ring.keys, new Date()) };
  expect(await rings.save(off)).toBe(true);
  expect((await others.read())?.keys.map(comparable)).toEqual(off.keys.map(comparable));
});

function comparable({ sealed, publicKey, ...key }: KeyRing["keys"][number]) {
  const envelope = sealed && Buffer.from(sealed.envelope);
  return { ...key, custody: sealed?.custody, envelope, publicKey: Buffer.from(publicKey) };
}

test("only one of 16 changes to one revision of the ring is stored", async () => {
  const [rings] = ringStores();
  const founded = await Promise.all(Array.from({ length: 16 }, () => rings.save(ring)));
  expect(founded.filter(Boolean)).toHaveLength(1);
  await rings.read();
  const ends = Array.from({ length: 16 }, (_, day) => ({
    ...ring,
    revision: 2,
    keys: pauseSigning(ring.keys, new Date(Date.UTC(2027, 0, day + 1))),
  }));
  const saved = await Promise.all(ends.map((end) => rings.save(end)));
  expect(saved.filter(Boolean)).toHaveLength(1);
  const winner = ends[saved.indexOf(true)];
  expect((await rings.read())?.keys.map(comparable)).toEqual(winner?.keys.map(comparable));
});

test("a ring is lifted to the given revision, and a second time to the revision after it", async () => {
  const [rings, others] = ringStores();
  await rings.save(ring);
  await rings.save({ ...ring, revision: 2, keys: pauseSigning(ring.keys, new Date()) });
  expect(await others.read()).toMatchObject({ revision: 2 });
  expect(await rings.lift(1_800_000_000)).toMatchObject({ revision: 1_800_000_000 });
  expect((await others.read())?.keys.map(comparable)).toEqual((await rings.read())?.keys.map(comparable));
  expect(await rings.lift(1_800_000_000)).toMatchObject({ revision: 1_800_000_001 });
  expect(await rings.save({ ...ring, revision: 1_800_000_002 })).toBe(true);
  expect(await others.read()).toMatchObject({ revision: 1_800_000_002 });
});

test("a ring with two active keys is not stored", async () => {
  const [rings] = ringStores();
  const [first, standby] = ring.keys;
  const two = { ...ring, keys: [first!, { ...standby!, state: "active" as const }] };
  await expect(rings.save(two)).rejects.toThrow("2 active keys");
  expect(await rings.read()).toBeUndefined();
});

function aDigest(): SnapshotDigest {
  const documentId = randomUUID();
  return { tenantId: "demo", documentId, sequence: 1, version: 1, status: "usable", sha256: digestOf(documentId) };
}

/** The clock before the process died, and after its restart. */
const before = () => new Date("2030-01-01T00:00:00.000Z");
const afterwards = () => new Date("2030-01-01T00:01:00.000Z");

async function signWith(ledger: Ledger, now: () => Date, digests: SnapshotDigest[]) {
  return signDigests({ signingState: async () => ({ key: signer, ring }), ledger, now }, digests);
}

test("a process that dies between signing and storing leaves nothing: the retry signs once", async () => {
  const ledger = new LedgerStore(mongo.db, () => sealKey);
  await ensureIndexes(mongo.db, LedgerStore.indexes);
  const dying: Ledger = { record: () => Promise.reject(new Error("killed")) };
  const digests = [aDigest()];
  await expect(signWith(dying, before, digests)).rejects.toThrow("killed");
  const [retried] = await signWith(ledger, afterwards, digests);
  expect(retried).toMatchObject({ kind: "signed", signature: { signedAt: afterwards() } });
  expect(await signWith(ledger, before, digests)).toMatchObject([{ signature: { signedAt: afterwards() } }]);
});

test("a retry gets the signature that a process stored before it died", async () => {
  const ledger = new LedgerStore(mongo.db, () => sealKey);
  await ensureIndexes(mongo.db, LedgerStore.indexes);
  const dying: Ledger = {
    record: async (entries, revision) => {
      await ledger.record(entries, revision);
      throw new Error("killed");
    },
  };
  const stored = aDigest();
  await expect(signWith(dying, before, [stored])).rejects.toThrow("killed");
  const [retried, fresh] = await signWith(ledger, afterwards, [stored, aDigest()]);
  expect(retried).toMatchObject({ kind: "signed", signature: { signedAt: before() } });
  expect(fresh).toMatchObject({ kind: "signed", signature: { signedAt: afterwards() } });
});

test("two processes that record at once make one chain of batches with each snapshot once", async () => {
  const db = mongo.client.db(testDatabaseName("signing"));
  const [one, two] = [new LedgerStore(db, () => sealKey), new LedgerStore(db, () => sealKey)];
  await ensureIndexes(db, LedgerStore.indexes);
  const digests = Array.from({ length: 40 }, aDigest);
  const calls = digests.flatMap((each, index) =>
    [one, two].map((ledger) => signWith(ledger, index % 2 === 0 ? before : afterwards, [each, digests[0]!])),
  );
  const outcomes = await Promise.all(calls);
  for (const [index, [first]] of outcomes.entries()) expect(first).toEqual(outcomes[index - (index % 2)]![0]);
  const report = await auditLedger({
    batches: one.batches(),
    sealKey,
    readRing: async () => ring,
    notedHead: undefined,
  });
  expect(report).toMatchObject({ entries: 40, fault: undefined });
});

test("a batch that cannot be stored fails without stopping the next one", async () => {
  const db = mongo.client.db(testDatabaseName("signing"));
  const ledger = new LedgerStore(db, () => sealKey);
  await ensureIndexes(db, LedgerStore.indexes);
  const validator = { ringRevision: { $gt: 7 } };
  await db.command({ collMod: "ledger", validator });
  const digests = [aDigest(), aDigest()];
  await expect(signWith(ledger, before, digests)).rejects.toMatchObject({ code: 121 });
  await db.command({ collMod: "ledger", validator: {} });
  expect(await signWith(ledger, afterwards, digests)).toMatchObject([
    { kind: "signed", signature: { signedAt: afterwards() } },
    { kind: "signed" },
  ]);
});
