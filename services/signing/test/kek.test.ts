/** The KEK that wraps the keys in the database: a wrong one, none, and a new one in its place. */
import { Code } from "@connectrpc/connect";
import { KeyAdminService } from "@vidimus/contracts/vidimus/signing/v1/key_admin_service";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { openRpcClient } from "@vidimus/kit/rpc/client/client";
import { Binary, type Document, MongoClient } from "mongodb";
import { createSecretKey } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { localWrappedCustody } from "../src/custody/local-wrapped.ts";
import { SealedRings, type SealedRingStorage } from "../src/domain/sealed-rings.ts";
import { RingStore } from "../src/store/ring-store.ts";
import { digest, kekFiles, runSigning, signaturesOf, type TestDigest } from "./support/running-signing.ts";

const stack = new AsyncDisposableStack();
const keks = stack.use(kekFiles());
const client = stack.use(new MongoClient(inject("mongoUrl")));
const on = { SIGNING_KEK_FILE: keks.make(1) };
const off = { SIGNING: "off", ...on };
const both = { SIGNING_KEK_FILE: keks.make(2), SIGNING_OLD_KEK_FILE: keks.make(1) };
const renewed = { SIGNING_KEK_FILE: keks.make(2) };
const asAdmin = { headers: { "vidimus-role": "admin", "vidimus-actor": "test" } };
afterAll(() => stack.disposeAsync());

test("a start with a wrong KEK fails with a ConfigError, without a change to a paused ring", async () => {
  const database = testDatabaseName("signing");
  await runSigning(database, on).then((signing) => signing[Symbol.asyncDispose]());
  await runSigning(database, off).then((signing) => signing[Symbol.asyncDispose]());
  const rings = client.db(database).collection("ring");
  const before = await rings.find().toArray();
  const wrong = runSigning(database, { SIGNING_KEK_FILE: keks.make(2) });
  await expect(wrong).rejects.toThrow(/^wrong KEK: the seal of the key ring is wrapped by the KEK/);
  await expect(wrong).rejects.toMatchObject({ name: "ConfigError" });
  expect(before).toMatchObject([{ revision: 2 }]);
  expect(await rings.find().toArray()).toEqual(before);
});

test("a process with signing off does not start without the KEK", async () => {
  // Such a process still signs the trust list.
  const database = testDatabaseName("signing");
  await runSigning(database, on).then((signing) => signing[Symbol.asyncDispose]());
  await expect(runSigning(database, { SIGNING: "off" })).rejects.toThrow("SIGNING_KEK_FILE is required");
});

/** A signing process with its admin door. */
async function open(database: string, variables: Record<string, string>) {
  const running = await runSigning(database, { ...variables, GRPC_PORT: "0" });
  const admin = openRpcClient(KeyAdminService, { target: `127.0.0.1:${running.service.grpcPort}` });
  return {
    ...running,
    rewrap: () => admin.rewrapKeys({}, asAdmin),
    prepare: () => admin.prepareKey({}, asAdmin),
    async [Symbol.asyncDispose]() {
      admin[Symbol.dispose]();
      await running[Symbol.asyncDispose]();
    },
  };
}

/**
 * Ids of the KEKs that wrap anything in a database: the 8 bytes after the version of an envelope.
 */
async function kekIdsIn(database: string): Promise<string[]> {
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (value instanceof Binary) return;
    if (typeof value !== "object" || value === null) return;
    if ("envelope" in value && value.envelope instanceof Binary) {
      found.add(Buffer.from(value.envelope.value().subarray(1, 9)).toString("hex"));
    }
    for (const each of Object.values(value)) look(each);
  };
  for (const { name } of await client.db(database).listCollections().toArray()) {
    for (const row of await client.db(database).collection(name).find().toArray()) look(row);
  }
  return [...found];
}

describe("a new KEK", () => {
  test("replaces the old one process by process while signing goes on, until the old one opens nothing", async () => {
    const database = testDatabaseName("signing");
    const processes = [await open(database, on), await open(database, on)];
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(async () => void (await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()))));
    const [old] = await kekIdsIn(database);
    const before = await processes[0]!.trustList.listKeys({});

    const load = new AbortController();
    const signed: { item: TestDigest; statement: string }[] = [];
    const signing = (async () => {
      while (!load.signal.aborted) {
        const item = digest();
        const items = [item];
        const answers = processes.map(({ signing }) => signing.signSnapshots({ items }));
        // One process is down at a time, and its call fails.
        const first = (await Promise.allSettled(answers)).find(({ status }) => status === "fulfilled");
        if (first?.status !== "fulfilled") throw new Error("nobody signed");
        signed.push({ item, statement: signaturesOf(first.value)[0]!.statement });
        await pause(5);
      }
    })();
    const replace = async (index: number, variables: Record<string, string>) => {
      await processes[index]![Symbol.asyncDispose]();
      processes[index] = await open(database, variables);
    };

    await replace(0, both);
    await expect(processes[0]!.rewrap()).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("one signing process does not hold the KEK"),
    });
    // A key that is made meanwhile is one that the process without the new KEK can open.
    await processes[0]!.prepare();
    expect(await kekIdsIn(database)).toEqual([old]);
    await replace(1, both);
    const { kekId, privateKeys, changed } = await processes[1]!.rewrap();
    expect({ privateKeys, changed }).toEqual({ privateKeys: 4, changed: true });
    expect(kekId).not.toBe(old);
    expect(await kekIdsIn(database)).toEqual([kekId]);
    expect(await processes[0]!.rewrap()).toMatchObject({ kekId, changed: false });
    for (const index of [0, 1]) await replace(index, renewed);
    await vi.waitUntil(() => signed.length > 10, patient);
    load.abort();
    await signing;

    const after = await processes[0]!.trustList.listKeys({});
    expect(after.activeKeyId).toBe(before.activeKeyId);
    expect(new Set(signed.map(({ statement }) => statement.split("\n")[7]))).toEqual(new Set([before.activeKeyId]));
    const some = signed.slice(0, 256);
    const again = signaturesOf(await processes[1]!.signing.signSnapshots({ items: some.map(({ item }) => item) }));
    expect(again.map(({ statement }) => statement)).toEqual(some.map(({ statement }) => statement));
    await nothingOpens(database);
    await expect(runSigning(database, on)).rejects.toThrow("wrong KEK");
  });

  test("is in place wholly or not at all when the process dies before or after it stores the ring", async () => {
    const database = testDatabaseName("signing");
    await runSigning(database, on).then((signing) => signing[Symbol.asyncDispose]());
    const store = new RingStore(client.db(database));
    const custody = localWrappedCustody(kek(2), kek(1));
    const [old] = await kekIdsIn(database);
    const read = () => store.read();
    const dying: Record<"before" | "after", SealedRingStorage> = {
      before: { read, save: () => Promise.reject(new Error("killed")) },
      after: {
        read,
        save: async (ring) => {
          await store.save(ring);
          throw new Error("killed");
        },
      },
    };
    await expect(new SealedRings(dying.before, custody).rewrap()).rejects.toThrow("killed");
    expect(await kekIdsIn(database)).toEqual([old]);
    await runSigning(database, on).then((signing) => signing[Symbol.asyncDispose]());
    await expect(new SealedRings(dying.after, custody).rewrap()).rejects.toThrow("killed");
    expect(await new SealedRings(store, custody).rewrap()).toMatchObject({ isChanged: false });
    await nothingOpens(database);
    await runSigning(database, renewed).then((signing) => signing[Symbol.asyncDispose]());
  });
});

function kek(byte: number) {
  return createSecretKey(Buffer.alloc(32, byte));
}

/**
 * Expects that the old KEK opens no envelope of keys or seal, even when the envelope names that
 * KEK.
 */
async function nothingOpens(database: string): Promise<void> {
  const old = localWrappedCustody(kek(1));
  const oldName = Buffer.from(old.kekIds[0]!, "hex");
  const ring: Document = (await client.db(database).collection("ring").findOne())!;
  const rename = (envelope: Binary) => {
    const bytes = Buffer.from(envelope.value());
    return [bytes, Buffer.concat([bytes.subarray(0, 1), oldName, bytes.subarray(9)])];
  };
  const envelopes = (ring["keys"] as Document[]).filter(({ sealed }) => sealed);
  expect(envelopes.length).toBeGreaterThan(1);
  for (const { keyId, publicKey, sealed } of envelopes) {
    for (const envelope of rename(sealed.envelope)) {
      const key = { keyId, publicKey: publicKey.value(), sealed: { custody: sealed.custody, envelope } };
      await expect(old.open(key)).rejects.toThrow(/wrong KEK|was changed/);
    }
  }
  for (const envelope of rename(ring["seal"].envelope)) {
    await expect(old.openSealKey({ custody: "local-wrapped", envelope })).rejects.toThrow(/wrong KEK|was changed/);
  }
}
