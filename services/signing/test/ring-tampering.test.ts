/** Whoever can write to the database, without a KEK, can change nothing in the ring unnoticed. */
import { Code, type ConnectError } from "@connectrpc/connect";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { patient } from "@vidimus/kit/testing/patient";
import { type Collection, type Document, MongoClient } from "mongodb";
import { createHash, generateKeyPairSync } from "node:crypto";
import { afterAll, expect, inject, test, vi } from "vitest";
import { digest, kekFiles, runSigning } from "./support/running-signing.ts";

const stack = new AsyncDisposableStack();
const keks = stack.use(kekFiles());
const client = stack.use(new MongoClient(inject("mongoUrl")));
const on = { SIGNING_KEK_FILE: keks.make(1) };
afterAll(() => stack.disposeAsync());

interface Damage {
  readonly rings: Collection;
  readonly ring: Document;
  /** The ring at its first revision. */
  readonly older: Document;
}

const { publicKey } = generateKeyPairSync("ed25519");
const spki = publicKey.export({ type: "spki", format: "der" });
const planted = `ed25519-${createHash("sha256").update(spki).digest("base64url").slice(0, 16)}`;

const damages: readonly [string, (damage: Damage) => Promise<unknown>, string][] = [
  [
    "a planted key",
    ({ rings, ring }) =>
      rings.updateOne(
        {},
        {
          $push: {
            keys: { ...ring["keys"][1], keyId: planted, publicKey: spki, state: "retired", sealed: null },
          } as never,
        },
      ),
    "does not hold",
  ],
  [
    "a key under the id of another",
    ({ rings }) => rings.updateOne({}, { $set: { "keys.0.publicKey": spki } }),
    "does not hold",
  ],
  [
    "a standby made active",
    ({ rings }) => rings.updateOne({}, { $set: { "keys.1.state": "active" } }),
    "does not hold",
  ],
  [
    "a standby made valid early",
    ({ rings }) => rings.updateOne({}, { $set: { "keys.1.validFrom": new Date(0) } }),
    "does not hold",
  ],
  [
    "another private key",
    ({ rings, ring }) => rings.updateOne({}, { $set: { "keys.1.sealed": ring["keys"][0].sealed } }),
    "does not hold",
  ],
  ["another list key", ({ rings }) => rings.updateOne({}, { $set: { "listKey.publicKey": spki } }), "does not hold"],
  [
    "a planted empty delegation",
    ({ rings }) => rings.updateOne({}, { $set: { "listKey.delegation": "" } }),
    "does not hold",
  ],
  ["a list key taken out", ({ rings }) => rings.updateOne({}, { $unset: { listKey: "" } }), "cannot be read: listKey"],
  ["a key taken out", ({ rings }) => rings.updateOne({}, { $pop: { keys: 1 } as never }), "does not hold"],
  ["another revision", ({ rings }) => rings.updateOne({}, { $inc: { revision: 7 } }), "does not hold"],
  ["a seal taken out", ({ rings }) => rings.updateOne({}, { $unset: { seal: "", mac: "" } }), "has no seal"],
  ["an old ring brought back", ({ rings, older }) => rings.replaceOne({}, older), "an old key ring was brought back"],
  ["a deleted ring", ({ rings }) => rings.deleteOne({}), "is gone"],
  [
    "a public key that is text",
    ({ rings }) => rings.updateOne({}, { $set: { "keys.0.publicKey": "MCowBQYDK2Vw" } }),
    "cannot be read: keys.0.publicKey",
  ],
  [
    "a date that is text",
    ({ rings }) => rings.updateOne({}, { $set: { "keys.1.validFrom": "2026-01-01" } }),
    "cannot be read: keys.1.validFrom",
  ],
  [
    "a list of keys that is text",
    ({ rings }) => rings.updateOne({}, { $set: { keys: "none" } }),
    "cannot be read: keys",
  ],
  [
    "another envelope of the seal",
    ({ rings }) => rings.updateOne({}, { $set: { "seal.envelope": Buffer.alloc(150) } }),
    "the seal of the key ring",
  ],
];

// The cases run at the same time, because a signer looks at its ring only once a second.
test.concurrent.each(damages)(
  "%s stops the signer within 10 s, while the last good trust list is still served",
  async (_, damage, message) => {
    const database = testDatabaseName("signing");
    const rings = client.db(database).collection("ring");
    await using signing = await runSigning(database, on);
    const ops = `http://127.0.0.1:${signing.service.opsPort}`;
    expect((await fetch(`${ops}/readyz`)).status).toBe(200);
    expect(await usableBy(ops)).toBe(1);
    const older = (await rings.findOne())!;
    await expect(signing.signing.signSnapshots({ items: [digest()] })).resolves.toBeDefined();
    await runSigning(database, { SIGNING: "off", ...on }).then((each) => each[Symbol.asyncDispose]());
    // The signer may report that it signs before the other process looks. So repeat until the ring
    // was paused.
    await vi.waitUntil(async () => {
      await client.db(database).collection("signers").deleteMany({});
      await runSigning(database, { SIGNING: "off", ...on }).then((each) => each[Symbol.asyncDispose]());
      return (await rings.findOne())!["revision"] > 1;
    }, patient);
    await vi.waitUntil(async () => (await rings.findOne())!["revision"] >= 3, 10_000);
    const list = await signing.trustList.listKeys({});
    await damage({ rings, ring: (await rings.findOne())!, older });
    const refused = await vi.waitUntil(
      () =>
        signing.signing.signSnapshots({ items: [digest()] }).then(
          () => undefined,
          (error: ConnectError) => error,
        ),
      { timeout: 10_000, interval: 100 },
    );
    expect(refused.code).toBe(Code.Unavailable);
    expect(await signing.trustList.listKeys({})).toEqual(list);
    await vi.waitFor(async () => {
      const ready = await fetch(`${ops}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([
        503,
        { ok: false, reason: expect.stringContaining(message) as string },
      ]);
    }, patient);
    expect(await usableBy(ops)).toBe(0);
  },
);

async function usableBy(ops: string): Promise<number> {
  const metrics = await (await fetch(`${ops}/metrics`)).text();
  return Number(/^vidimus_key_ring_usable\{.*\} (\d)$/m.exec(metrics)?.[1]);
}

test("a signer is ready and signs again once its ring is repaired", async () => {
  const database = testDatabaseName("signing");
  const rings = client.db(database).collection("ring");
  await using signing = await runSigning(database, on);
  const ready = async () => (await fetch(`http://127.0.0.1:${signing.service.opsPort}/readyz`)).status;
  const standing = (await rings.findOne())!;
  await rings.updateOne({}, { $set: { keys: "none" } });
  await vi.waitFor(async () => expect(await ready()).toBe(503), patient);
  await rings.replaceOne({}, standing);
  await vi.waitFor(async () => expect(await ready()).toBe(200), patient);
  await expect(signing.signing.signSnapshots({ items: [digest()] })).resolves.toBeDefined();
});

test.each(damages)(
  "%s makes a start fail, and the start leaves the stored ring as it is",
  async (_, damage, message) => {
    const database = testDatabaseName("signing");
    const rings = client.db(database).collection("ring");
    let older: Document | undefined;
    for (const variables of [on, { SIGNING: "off", ...on }, on]) {
      await using signing = await runSigning(database, variables);
      older ??= (await rings.findOne())!;
      if (variables === on) await signing.signing.signSnapshots({ items: [digest()] });
    }
    await damage({ rings, ring: (await rings.findOne())!, older: older! });
    const before = await rings.find().toArray();
    const atStart: Record<string, string> = {
      "is gone": "there is no key ring",
      "an old key ring was brought back": "under revision 3, but the key ring is at revision 1",
    };
    await expect(runSigning(database, on)).rejects.toThrow(atStart[message] ?? message);
    expect(await rings.find().toArray()).toEqual(before);
  },
);

test("a process with signing off pauses the ring only when no other process signs", async () => {
  const database = testDatabaseName("signing");
  const one = await runSigning(database, on);
  await using two = await runSigning(database, { SIGNING: "off", ...on });
  const { activeKeyId } = await one.trustList.listKeys({});
  expect(await two.trustList.listKeys({})).toMatchObject({ activeKeyId, revision: 1n });
  await expect(two.signing.signSnapshots({ items: [digest()] })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });
  await expect(one.signing.signSnapshots({ items: [digest()] })).resolves.toBeDefined();
  await one[Symbol.asyncDispose]();
  await vi.waitUntil(async () => (await two.trustList.listKeys({})).activeKeyId === "", 5_000);
});
