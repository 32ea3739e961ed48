import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectError } from "@connectrpc/connect";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { MongoClient } from "mongodb";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { digest, digestOf, kekFiles, runSigning, signaturesOf, verifies } from "./support/running-signing.ts";

const database = testDatabaseName("signing");
const stack = new AsyncDisposableStack();
let one: Awaited<ReturnType<typeof runSigning>>;
let two: Awaited<ReturnType<typeof runSigning>>;
let rows: ReturnType<ReturnType<MongoClient["db"]>["collection"]>;

beforeAll(async () => {
  const kek = stack.use(kekFiles()).make(1);
  const client = stack.use(new MongoClient(inject("mongoUrl")));
  rows = client.db(database).collection("ledger");
  [one, two] = await Promise.all([
    runSigning(database, { SIGNING_KEK_FILE: kek }),
    runSigning(database, { SIGNING_KEK_FILE: kek }),
  ]);
  stack.use(one);
  stack.use(two);
});
afterAll(() => stack.disposeAsync());

test("a statement names the snapshot, status, time, key and digest in nine lines", async () => {
  const item = digest({ tenantId: "ten_acme", sequence: 12n, version: 7n, status: "withheld" });
  const before = Date.now();
  const [signature] = signaturesOf(await one.signing.signSnapshots({ items: [item] }));
  const list = await one.trustList.listKeys({});
  const signedAt = timestampDate(signature!.signedAt!);
  expect(signature!.keyId).toBe(list.activeKeyId);
  expect(signature!.statement.split("\n")).toEqual([
    "vidimus-snapshot-v1",
    "ten_acme",
    item.documentId,
    "12",
    "7",
    "withheld",
    signedAt.toISOString(),
    list.activeKeyId,
    Buffer.from(item.sha256).toString("hex"),
  ]);
  expect(signedAt.getTime()).toBeGreaterThanOrEqual(before);
  expect(signedAt.getTime()).toBeLessThanOrEqual(Date.now());
});

test("Web Crypto verifies a signature with the listed key, only over the unchanged statement", async () => {
  const [signature] = signaturesOf(await one.signing.signSnapshots({ items: [digest({ status: "withheld" })] }));
  const list = await one.trustList.listKeys({});
  expect(signature!.value).toHaveLength(64);
  expect(await verifies(list, signature!)).toBe(true);
  expect(await verifies(list, { ...signature!, statement: signature!.statement.replace("withheld", "usable") })).toBe(
    false,
  );
});

/** Runs an act while the clock of the processes is half an hour ahead. */
async function withClockAhead(act: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    vi.setSystemTime(Date.now() + 30 * 60_000);
    await act();
  } finally {
    vi.useRealTimers();
  }
}

test("a process whose clock is half an hour ahead dates trust lists by the database's time", async () => {
  const before = Date.now();
  await withClockAhead(async () => {
    const { stated } = await one.trustList.listKeys({});
    expect(Date.parse(stated!.statement.split("\n")[2]!)).toBeLessThan(before + 60_000);
  });
});

test("a process whose clock is half an hour ahead does not sign until the clock is right again", async () => {
  const items = [digest()];
  await withClockAhead(async () => {
    const refusal = await one.signing.signSnapshots({ items }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: Code.Unavailable,
      rawMessage: expect.stringContaining("ahead of the database's"),
    });
    const ready = await fetch(`http://127.0.0.1:${one.service.opsPort}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("nothing is signed")]);
    const metrics = await (await fetch(`http://127.0.0.1:${one.service.opsPort}/metrics`)).text();
    expect(Number(/^vidimus_signing_clock_offset_seconds\S* (.*)$/m.exec(metrics)?.[1])).toBeCloseTo(1_800, -1);
  });
  expect(signaturesOf(await one.signing.signSnapshots({ items }))).toHaveLength(1);
});

test("a repeat gets the same signature back, byte for byte, from either of two processes", async () => {
  const items = [digest(), digest({ sequence: 2n })];
  const first = await one.signing.signSnapshots({ items });
  expect(await one.signing.signSnapshots({ items })).toEqual(first);
  expect(await two.signing.signSnapshots({ items })).toEqual(first);
});

test("another digest for a signed snapshot is refused, with the digest that was signed", async () => {
  const item = digest();
  const [signature] = signaturesOf(await one.signing.signSnapshots({ items: [item] }));
  const forged = { ...item, sha256: digestOf("another text") };
  const { results } = await two.signing.signSnapshots({ items: [forged] });
  expect(results.map(({ outcome }) => outcome.case)).toEqual(["conflictingSha256"]);
  expect(Buffer.from(results[0]!.outcome.value as Uint8Array)).toEqual(Buffer.from(item.sha256));
  const [again] = signaturesOf(await one.signing.signSnapshots({ items: [item] }));
  expect(again).toEqual(signature);
});

test("the snapshots beside a refused digest are signed", async () => {
  const item = digest();
  await one.signing.signSnapshots({ items: [item] });
  const forged = { ...item, sha256: digestOf("another text") };
  const { results } = await two.signing.signSnapshots({ items: [digest(), forged, digest()] });
  expect(results.map(({ outcome }) => outcome.case)).toEqual(["signature", "conflictingSha256", "signature"]);
});

test("snapshots that differ in tenant, document or sequence each get a signature of their own", async () => {
  const item = digest();
  const others = [
    item,
    { ...item, tenantId: "rival", sha256: digestOf("1") },
    { ...item, documentId: randomUUID(), sha256: digestOf("2") },
    { ...item, sequence: 2n, sha256: digestOf("3") },
  ];
  const signatures = signaturesOf(await one.signing.signSnapshots({ items: others }));
  expect(new Set(signatures.map(({ statement }) => statement)).size).toBe(4);
});

test("within one call only the first digest of a snapshot is signed", async () => {
  const item = digest();
  const second = { ...item, sha256: digestOf("second") };
  const { results } = await one.signing.signSnapshots({ items: [item, second, item, second] });
  const cases = ["signature", "conflictingSha256", "signature", "conflictingSha256"];
  expect(results.map(({ outcome }) => outcome.case)).toEqual(cases);
  expect(results[2]).toEqual(results[0]);
});

test("32 identical calls at once on two processes give one signature", async () => {
  for (let round = 0; round < 10; round += 1) {
    const items = [digest({ sequence: BigInt(round + 1) })];
    const calls = Array.from({ length: 32 }, (_, index) => (index % 2 ? one : two).signing.signSnapshots({ items }));
    const signatures = (await Promise.all(calls)).flatMap(signaturesOf);
    const [first] = signatures;
    for (const signature of signatures) expect(signature).toEqual(first);
    expect(await rows.countDocuments({ "entries.snapshotKey": `demo/${items[0]!.documentId}/${round + 1}` })).toBe(1);
  }
});

test("of two digests that race for one snapshot only one is signed", async () => {
  const item = digest();
  const rivals = [item, { ...item, sha256: digestOf("rival") }];
  const calls = Array.from({ length: 16 }, (_, index) =>
    (index % 2 ? one : two).signing.signSnapshots({ items: [rivals[index % 4 < 2 ? 0 : 1]!] }),
  );
  const outcomes = (await Promise.all(calls)).flatMap(({ results }) => results.map(({ outcome }) => outcome));
  const statements = new Set(outcomes.flatMap((o) => (o.case === "signature" ? [o.value.statement] : [])));
  const standing = new Set(
    outcomes.flatMap((o) => (o.case === "conflictingSha256" ? [Buffer.from(o.value).toString("hex")] : [])),
  );
  expect(statements.size).toBe(1);
  expect([...standing]).toEqual([...statements].map((statement) => statement.split("\n")[8]));
  expect(outcomes.filter((o) => o.case === "signature")).toHaveLength(8);
});

test("256 items are signed in one call, each with its own statement, even when half are repeats", async () => {
  const items = Array.from({ length: 256 }, () => digest());
  const half = signaturesOf(await one.signing.signSnapshots({ items: items.slice(0, 128) }));
  const all = signaturesOf(await two.signing.signSnapshots({ items }));
  const list = await one.trustList.listKeys({});
  expect(all.slice(0, 128)).toEqual(half);
  expect(all.map(({ statement }) => statement.split("\n")[2])).toEqual(items.map(({ documentId }) => documentId));
  expect(await Promise.all(all.map((signature) => verifies(list, signature)))).not.toContain(false);
});

test("a call without items or with 257 items is refused", async () => {
  for (const items of [[], Array.from({ length: 257 }, () => digest())]) {
    const failure = await one.signing.signSnapshots({ items }).catch((error: unknown) => error);
    expect((failure as ConnectError).code).toBe(Code.InvalidArgument);
    expect(fromConnectError(failure)?.violations).toMatchObject([{ pointer: "/items" }]);
  }
});

test("one malformed item fails the whole call with the pointers of its faults", async () => {
  const good = digest();
  const bad = digest({ tenantId: "demo\nrival", sequence: 0n });
  const failure = await one.signing.signSnapshots({ items: [good, bad] }).catch((error: unknown) => error);
  expect((failure as ConnectError).code).toBe(Code.InvalidArgument);
  expect(fromConnectError(failure)?.violations.map(({ pointer }) => pointer)).toEqual([
    "/items/1/tenantId",
    "/items/1/sequence",
  ]);
  expect(await rows.countDocuments({ "entries.snapshotKey": `demo/${good.documentId}/1` })).toBe(0);
});
