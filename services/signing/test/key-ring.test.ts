import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectError } from "@connectrpc/connect";
import type { ListKeysResponse } from "@vidimus/contracts/vidimus/signing/v1/trust_list_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { MongoClient } from "mongodb";
import { createHash } from "node:crypto";
import { afterAll, expect, inject, test } from "vitest";
import { expectStated } from "./support/expect-stated.ts";
import { digest, kekFiles, runSigning, signaturesOf, verifies } from "./support/running-signing.ts";

const stack = new AsyncDisposableStack();
const keks = stack.use(kekFiles());
const client = stack.use(new MongoClient(inject("mongoUrl")));
const on = { SIGNING_KEK_FILE: keks.make(1) };
const off = { SIGNING: "off", ...on };
afterAll(() => stack.disposeAsync());

/** A list without its statement, whose time of issue changes every half hour. */
function unstated({ stated, ...list }: ListKeysResponse) {
  return { ...list, listKeyId: stated?.keyId };
}

function openEnded({ keys }: ListKeysResponse): string[] {
  return keys.flatMap(({ keyId, validUntil }) => (validUntil ? [] : [keyId]));
}

test("a first start publishes one active key, and one standby that may sign a day later", async () => {
  await using signing = await runSigning(testDatabaseName("signing"), on);
  const list = await signing.trustList.listKeys({});
  expect(list.revision).toBe(1n);
  expect(list.keys).toHaveLength(2);
  expect(openEnded(list)).toEqual([list.activeKeyId]);
  const [active, standby] = list.keys;
  expect(active!.keyId).toBe(list.activeKeyId);
  const wait = timestampDate(standby!.validFrom!).getTime() - timestampDate(active!.validFrom!).getTime();
  expect(wait).toBe(24 * 3_600_000);
  expectStated(list);
  for (const stamp of [active!.validFrom!, standby!.validFrom!, standby!.validUntil!]) {
    expect(stamp.nanos % 1_000_000).toBe(0);
  }
});

test("a key's id is `ed25519-` and the first 16 characters of its public key's SHA-256 in base64url", async () => {
  await using signing = await runSigning(testDatabaseName("signing"), on);
  const { keys } = await signing.trustList.listKeys({});
  expect(keys).toHaveLength(2);
  for (const { keyId, publicKey, algorithm } of keys) {
    expect(algorithm).toBe("ed25519");
    const fingerprint = createHash("sha256").update(publicKey).digest("base64url").slice(0, 16);
    expect(keyId).toBe(`ed25519-${fingerprint}`);
  }
});

test("two processes that start at once on an empty database end with one ring, under which both sign", async () => {
  for (let round = 0; round < 5; round += 1) {
    const database = testDatabaseName("signing");
    const [one, two] = await Promise.all([runSigning(database, on), runSigning(database, on)]);
    await using _one = one;
    await using _two = two;
    const list = await one.trustList.listKeys({});
    expect(unstated(await two.trustList.listKeys({}))).toEqual(unstated(list));
    expect(list.keys).toHaveLength(2);
    for (const process of [one, two]) {
      const [signature] = signaturesOf(await process.signing.signSnapshots({ items: [digest()] }));
      expect(signature!.keyId).toBe(list.activeKeyId);
      expect(await verifies(list, signature!)).toBe(true);
    }
  }
});

test("a restart keeps the keys, the revision and a stored signature", async () => {
  const database = testDatabaseName("signing");
  const items = [digest()];
  const before = await (async () => {
    await using signing = await runSigning(database, on);
    return { list: await signing.trustList.listKeys({}), signed: await signing.signing.signSnapshots({ items }) };
  })();
  await using signing = await runSigning(database, on);
  expect(unstated(await signing.trustList.listKeys({}))).toEqual(unstated(before.list));
  expect(await signing.signing.signSnapshots({ items })).toEqual(before.signed);
  const [fresh] = signaturesOf(await signing.signing.signSnapshots({ items: [digest()] }));
  expect(await verifies(before.list, fresh!)).toBe(true);
});

test("the database contains no private key in unencrypted PKCS #8", async () => {
  const database = testDatabaseName("signing");
  await using _signing = await runSigning(database, on);
  const [row] = await client.db(database).collection("ring").find({}, { raw: true }).toArray();
  const bytes = row as unknown as Buffer;
  // How an Ed25519 private key in PKCS #8 begins, and how a public key in SPKI begins.
  const privateKeyStart = Buffer.from("302e020100300506032b6570", "hex");
  expect(bytes.includes(privateKeyStart)).toBe(false);
  expect(bytes.includes(Buffer.from("302a300506032b6570", "hex"))).toBe(true);
  for (const { name } of await client.db(database).listCollections().toArray()) {
    const rows = await client.db(database).collection(name).find({}, { raw: true }).toArray();
    for (const each of rows as unknown as Buffer[])
      expect([name, each.includes(privateKeyStart)]).toEqual([name, false]);
  }
});

test("with signing off from the first start, the trust list has no keys, and signing is refused", async () => {
  await using signing = await runSigning(testDatabaseName("signing"), off);
  const list = await signing.trustList.listKeys({});
  expect(list).toMatchObject({ activeKeyId: "", keys: [], revision: 1n });
  expect(Buffer.from(list.body).toString()).toBe('{"active":null,"keys":[]}');
  expectStated(list);
  const failure = await signing.signing.signSnapshots({ items: [digest()] }).catch((error: unknown) => error);
  expect((failure as ConnectError).code).toBe(Code.FailedPrecondition);
  expect((failure as ConnectError).rawMessage).toBe("signing is off");
});

/** Signs once with a new ring, and then pauses it. */
async function pauseAfterSigning() {
  const database = testDatabaseName("signing");
  const items = [digest()];
  const first = await (async () => {
    await using signing = await runSigning(database, on);
    return { list: await signing.trustList.listKeys({}), signed: await signing.signing.signSnapshots({ items }) };
  })();
  await using signing = await runSigning(database, off);
  const failure = await signing.signing.signSnapshots({ items }).catch((error: unknown) => error);
  expect((failure as ConnectError).code).toBe(Code.FailedPrecondition);
  return { database, items, first, paused: await signing.trustList.listKeys({}) };
}

test("a pause gives every listed key an end, and earlier signatures still verify", async () => {
  const { first, paused } = await pauseAfterSigning();
  expect(paused).toMatchObject({ activeKeyId: "", revision: 2n });
  expect(paused.keys.map(({ keyId }) => keyId)).toEqual(first.list.keys.map(({ keyId }) => keyId));
  expect(openEnded(paused)).toEqual([]);
  expect(await verifies(paused, signaturesOf(first.signed)[0]!)).toBe(true);
});

test("after a pause the listed keys are as before, and the same key signs", async () => {
  const { database, items, first } = await pauseAfterSigning();
  await using signing = await runSigning(database, on);
  const resumed = await signing.trustList.listKeys({});
  expect(unstated(resumed)).toEqual({ ...unstated(first.list), revision: 3n });
  expect(await signing.signing.signSnapshots({ items })).toEqual(first.signed);
  const [fresh] = signaturesOf(await signing.signing.signSnapshots({ items: [digest()] }));
  expect(fresh!.keyId).toBe(first.list.activeKeyId);
});
