/**
 * Signing signs what documents attested, and nothing else: a caller with delivery's identity alone
 * gets nothing signed.
 */
import { endorsementOf } from "@vidimus/contracts/endorsement";
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { MongoClient } from "mongodb";
import { createSecretKey, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import {
  attest,
  digest,
  digestOf,
  kekFiles,
  runSigning,
  signaturesOf,
  type TestDigest,
} from "./support/running-signing.ts";

const stack = new AsyncDisposableStack();
const database = testDatabaseName("signing");
const kekFile = stack.use(kekFiles()).make(1);
const client = stack.use(new MongoClient(inject("mongoUrl")));
let signing: Awaited<ReturnType<typeof runSigning>>;

beforeAll(async () => {
  signing = stack.use(await runSigning(database, { SIGNING_KEK_FILE: kekFile }));
});
afterAll(() => stack.disposeAsync());

/** How many batches of the ledger name a document. */
function entriesOf({ documentId }: TestDigest): Promise<number> {
  const name = { $regex: `/${documentId}/` };
  return client.db(database).collection("ledger").countDocuments({ "entries.snapshotKey": name });
}

async function expectRefused(item: TestDigest & { attestation: Uint8Array }): Promise<void> {
  const neighbour = digest();
  const items = [{ attestation: attest(neighbour), ...neighbour }, item];
  const { results } = await signing.unattested.signSnapshots({ items });
  expect(results.map(({ outcome }) => outcome.case)).toEqual(["signature", "unattested"]);
  expect(results[1]!.outcome.value).toContain("attestation is missing");
  expect(await entriesOf(item)).toBe(0);
}

describe("a snapshot is not signed", () => {
  test.each<[string, (item: TestDigest) => Uint8Array]>([
    ["without an attestation", () => new Uint8Array()],
    ["with random bytes as its attestation", () => randomBytes(32)],
    ["with an attestation by another key", (item) => attest(item, createSecretKey(randomBytes(32)))],
    ["with half of the right attestation", (item) => attest(item).slice(0, 16)],
  ])("%s", async (_, attestation) => {
    const item = digest();
    await expectRefused({ ...item, attestation: attestation(item) });
  });

  test.each<[string, Partial<TestDigest>]>([
    ["tenant", { tenantId: "rival" }],
    ["document", { documentId: digest().documentId }],
    ["sequence", { sequence: 2n }],
    ["version", { version: 2n }],
    ["status", { status: "withheld" }],
    ["content", { sha256: digestOf("forged") }],
  ])("with the attestation of a snapshot that has another %s", async (_, change) => {
    const item = digest();
    await expectRefused({ ...item, ...change, attestation: attest(item) });
  });
});

test("a signed snapshot's signature is not handed out without an attestation", async () => {
  const item = digest();
  expect(signaturesOf(await signing.signing.signSnapshots({ items: [item] }))).toHaveLength(1);
  const { results } = await signing.unattested.signSnapshots({ items: [item] });
  expect(results[0]!.outcome.case).toBe("unattested");
});

test("a new attestation key is accepted beside the old one, and then in its place", async () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  const file = (name: string, key: Buffer) => {
    const path = join(dirname(kekFile), name);
    writeFileSync(path, key, { mode: 0o600 });
    return path;
  };
  const [oldFile, newFile] = [file("old-attestation", oldKey), file("new-attestation", newKey)];
  const signedBy = async (keyFiles: Record<string, string>) => {
    await using running = await runSigning(database, { SIGNING_KEK_FILE: kekFile, ...keyFiles });
    const attested = (item: TestDigest, key: Buffer) =>
      Object.assign(item, { attestation: attest(item, createSecretKey(key)) });
    const sent = [attested(digest(), oldKey), attested(digest(), newKey)];
    const { results } = await running.unattested.signSnapshots({ items: sent });
    // A signature is endorsed with the key of its attestation, because documents has that key.
    for (const [at, key] of [oldKey, newKey].entries()) {
      const { outcome } = results[at]!;
      if (outcome.case !== "signature") continue;
      const { endorsement, ...signature } = outcome.value;
      expect(Buffer.from(endorsement)).toEqual(endorsementOf(createSecretKey(key), signature));
    }
    return results.map(({ outcome }) => outcome.case === "signature");
  };
  expect(await signedBy({ ATTESTATION_KEY_FILE: oldFile })).toEqual([true, false]);
  expect(await signedBy({ ATTESTATION_KEY_FILE: newFile, ATTESTATION_OLD_KEY_FILE: oldFile })).toEqual([true, true]);
  expect(await signedBy({ ATTESTATION_KEY_FILE: newFile })).toEqual([false, true]);
});

test("the first signature of a snapshot has the signing number 1", async () => {
  const [signature] = signaturesOf(await signing.signing.signSnapshots({ items: [digest()] }));
  expect(signature!.signingNumber).toBe(1);
});
