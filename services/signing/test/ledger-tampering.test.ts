/** Whoever can write to the database, without a KEK, can change nothing in the ledger unnoticed. */
import { Code } from "@connectrpc/connect";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { Binary, type Collection, MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { auditLedger } from "../src/domain/audit-ledger.ts";
import { activeKey } from "../src/domain/key-ring.ts";
import { revokeKey } from "../src/domain/ring-changes.ts";
import { SealedRings } from "../src/domain/sealed-rings.ts";
import { updateRing } from "../src/domain/update-ring.ts";
import { LedgerStore } from "../src/store/ledger-store.ts";
import { RingStore } from "../src/store/ring-store.ts";
import { digest, kekFiles, runSigning, signaturesOf, type TestDigest, verifies } from "./support/running-signing.ts";
import { testCustody } from "./support/test-custody.ts";

const stack = new AsyncDisposableStack();
const keks = stack.use(kekFiles());
const client = stack.use(new MongoClient(inject("mongoUrl")));
const on = { SIGNING_KEK_FILE: keks.make(1) };
afterAll(() => stack.disposeAsync());

/** A batch as it is stored. */
interface BatchDocument {
  _id: number;
  prev: Binary;
  mac: Binary;
  ringRevision: number;
  entries: { snapshotKey: string; signing: number; statement: string; value: Binary }[];
}

/** Opens the ring and the ledger of a database, and an audit of them. */
function operator(database: string) {
  const db = client.db(database);
  const rings = new SealedRings(new RingStore(db), testCustody);
  const ledger = new LedgerStore(db, () => rings.sealKey());
  const audit = async (notedHead?: string) => {
    await rings.read();
    const readRing = async () => (await rings.read())!;
    return auditLedger({ batches: ledger.batches(), sealKey: rings.sealKey(), readRing, notedHead });
  };
  return { rings, ledger, audit, batches: db.collection<BatchDocument>("ledger") };
}

/** Three batches of two snapshots each, and an audit that finds them whole. */
async function signedLedger(database: string) {
  const signing = await runSigning(database, on);
  const items = Array.from({ length: 6 }, () => digest());
  for (const at of [0, 2, 4]) await signing.signing.signSnapshots({ items: items.slice(at, at + 2) });
  const tools = operator(database);
  const report = await tools.audit();
  expect(report).toMatchObject({ batches: 3, entries: 6, fault: undefined });
  return { signing, items, ...tools, head: report.head };
}

type Damage = (batches: Collection<BatchDocument>, items: TestDigest[]) => Promise<unknown>;

const planted = {
  snapshotKey: `demo/${randomUUID()}/1`,
  signing: 1,
  statement: "x",
  value: new Binary(Buffer.alloc(64)),
};

const damages: readonly [string, Damage, string][] = [
  ["an entry removed", (batches) => batches.updateOne({ _id: 2 }, { $pop: { entries: 1 } }), "batch 2 was changed"],
  ["a batch removed", (batches) => batches.deleteOne({ _id: 2 }), "batch 2 is missing"],
  ["the first batch removed", (batches) => batches.deleteOne({ _id: 1 }), "batch 1 is missing"],
  [
    "another statement",
    (batches) =>
      batches.updateOne({ _id: 2 }, [
        { $set: { entries: { $map: { input: "$entries", in: { $mergeObjects: ["$$this", { statement: "x" }] } } } } },
      ]),
    "batch 2 was changed",
  ],
  [
    "another signature",
    (batches) => batches.updateOne({ _id: 2 }, { $set: { "entries.0.value": new Binary(Buffer.alloc(64)) } }),
    "batch 2 was changed",
  ],
  [
    "an entry planted",
    (batches) => batches.updateOne({ _id: 2 }, { $push: { entries: planted } }),
    "batch 2 was changed",
  ],
  [
    "another revision of the ring",
    (batches) => batches.updateOne({ _id: 2 }, { $set: { ringRevision: 9 } }),
    "batch 2 was changed",
  ],
  [
    "a batch planted at the end",
    (batches) =>
      batches.insertOne({
        _id: 4,
        prev: new Binary(Buffer.alloc(32)),
        mac: new Binary(Buffer.alloc(32)),
        ringRevision: 1,
        entries: [planted],
      }),
    "batch 4 was changed, or planted",
  ],
  [
    "the last batch repeated without its entries",
    async (batches) => {
      const last = await batches.findOne({ _id: 3 });
      await batches.insertOne({ ...last!, _id: 4, entries: [] });
    },
    "batch 4 was changed, or planted",
  ],
  ["the tail cut", (batches) => batches.deleteOne({ _id: 3 }), "no batch has the noted head"],
  ["the whole ledger removed", (batches) => batches.deleteMany({}), "no batch has the noted head"],
  [
    "an older state of the ledger with a new batch",
    async (batches) => {
      const second = await batches.findOne({ _id: 2 });
      await batches.deleteMany({ _id: { $gte: 2 } });
      await batches.insertOne({ ...second!, _id: 2, entries: [] });
    },
    "batch 2 was changed",
  ],
];

test.each(damages)("%s is found by an audit with the noted head", async (_, damage, fault) => {
  await using ledger = await withDisposal(signedLedger(testDatabaseName("signing")));
  await damage(ledger.batches, ledger.items);
  expect((await ledger.audit(ledger.head)).fault).toContain(fault);
});

async function withDisposal(opening: ReturnType<typeof signedLedger>) {
  const opened = await opening;
  return { ...opened, [Symbol.asyncDispose]: () => opened.signing[Symbol.asyncDispose]() };
}

test("an audit finds an earlier head in a ledger that has grown, while a second process runs", async () => {
  const database = testDatabaseName("signing");
  await using ledger = await withDisposal(signedLedger(database));
  await ledger.signing.signing.signSnapshots({ items: [digest()] });
  await using _second = await runSigning(database, on);
  expect(await ledger.audit(ledger.head)).toMatchObject({ batches: 4, entries: 7, fault: undefined });
});

describe("a signature that stands in the ledger", () => {
  test.each([
    ["the statement", { "entries.0.statement": "vidimus-snapshot-v1" }],
    ["the signature", { "entries.0.value": new Binary(Buffer.alloc(64)) }],
  ])("is not handed out when its entry was changed in %s, but its neighbours are", async (_, change) => {
    await using ledger = await withDisposal(signedLedger(testDatabaseName("signing")));
    await ledger.batches.updateOne({ _id: 2 }, { $set: change });
    const { results } = await ledger.signing.signing.signSnapshots({ items: ledger.items });
    const refused = results.flatMap(({ outcome }, index) => (outcome.case === "signature" ? [] : [index]));
    expect(refused).toEqual([2]);
  });

  test("is not handed out when it was planted for a snapshot that is not signed yet", async () => {
    await using ledger = await withDisposal(signedLedger(testDatabaseName("signing")));
    const item = digest();
    const [genuine] = signaturesOf(await ledger.signing.signing.signSnapshots({ items: [digest()] }));
    const entry = {
      ...planted,
      snapshotKey: `demo/${item.documentId}/1`,
      statement: genuine!.statement,
      value: new Binary(genuine!.value),
    };
    await ledger.batches.updateOne({ _id: 2 }, { $push: { entries: entry } });
    const { results } = await ledger.signing.signing.signSnapshots({ items: [item] });
    expect(results[0]!.outcome.case).toBe("conflictingSha256");
  });

  test.each<[string, Partial<TestDigest>]>([
    ["version", { version: 2n }],
    ["status", { status: "withheld" }],
  ])("is not handed out for the same digest with another %s", async (_, change) => {
    await using ledger = await withDisposal(signedLedger(testDatabaseName("signing")));
    const { results } = await ledger.signing.signing.signSnapshots({ items: [{ ...ledger.items[0]!, ...change }] });
    expect(results[0]!.outcome.case).toBe("conflictingSha256");
  });
});

describe("after a key is revoked,", () => {
  test("two processes at once sign its snapshots anew, each snapshot once, with the new key", async () => {
    const database = testDatabaseName("signing");
    await using ledger = await withDisposal(signedLedger(database));
    await using second = await runSigning(database, on);
    const { items, rings, signing } = ledger;
    const before = signaturesOf(await signing.signing.signSnapshots({ items }));
    await updateRing(rings, async (ring) =>
      revokeKey(ring!.keys, activeKey(ring!.keys)!.keyId, new Date(), { emergency: true }),
    );
    const { keyId } = activeKey((await rings.read())!.keys)!;
    for (const process of [signing, second]) {
      await vi.waitUntil(
        async () => signaturesOf(await process.signing.signSnapshots({ items: [digest()] }))[0]!.keyId === keyId,
        {
          timeout: 10_000,
          interval: 100,
        },
      );
    }
    const answers = await Promise.all(
      [signing, second, signing, second].map((process) => process.signing.signSnapshots({ items })),
    );
    const anew = signaturesOf(answers[0]!);
    expect(anew.map((signature) => signature.keyId)).toEqual(items.map(() => keyId));
    expect(anew.map(({ signingNumber }) => signingNumber)).toEqual(items.map(() => 2));
    for (const answer of answers) expect(signaturesOf(answer)).toEqual(anew);
    const list = await signing.trustList.listKeys({});
    for (const signature of anew) expect(await verifies(list, signature)).toBe(true);
    expect(await verifies(list, before[0]!)).toBe(false);
    expect((await ledger.audit(ledger.head)).fault).toBeUndefined();
    expect(await ledger.batches.countDocuments({ "entries.signing": 2 })).toBeGreaterThan(0);
  });

  test("nothing is signed when no other key may sign yet", async () => {
    const database = testDatabaseName("signing");
    await using ledger = await withDisposal(signedLedger(database));
    const { rings, signing, items } = ledger;
    await updateRing(rings, async (ring) =>
      revokeKey(ring!.keys, activeKey(ring!.keys)!.keyId, new Date(), { emergency: false }),
    );
    await vi.waitUntil(async () => (await signing.trustList.listKeys({})).activeKeyId === "", 10_000);
    const refused = () =>
      signing.signing.signSnapshots({ items }).then(
        () => undefined,
        ({ code }) => code,
      );
    await vi.waitUntil(async () => (await refused()) === Code.FailedPrecondition, { timeout: 10_000, interval: 100 });
  });
});
