/** What a ledger that was restored from an older backup takes back. */
import { testDatabaseName } from "@vidimus/devstack/testing/database";
import { ensureIndexes } from "@vidimus/kit/mongo/indexes";
import { openMongo } from "@vidimus/kit/mongo/mongo";
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { expect, inject, test } from "vitest";
import { adoptSignatures, toHeldSignature } from "../src/domain/adopt-signatures.ts";
import { auditLedger } from "../src/domain/audit-ledger.ts";
import { type SigningKey, signDigests } from "../src/domain/sign-digests.ts";
import type { SnapshotDigest } from "../src/domain/snapshot-digest.ts";
import { tendRing } from "../src/domain/tend-ring.ts";
import { LedgerStore } from "../src/store/ledger-store.ts";
import { digestOf } from "./support/running-signing.ts";
import { testCustody as custody } from "./support/test-custody.ts";

const rules = { prepublishMs: 24 * 3_600_000, rotateAfterMs: undefined };
const early = () => new Date("2030-01-01T00:00:00.000Z");
const late = () => new Date("2030-01-01T00:01:00.000Z");

async function openSigner() {
  const keys = await tendRing(undefined, early(), rules, () => custody.generate());
  const ring = { revision: 1, keys, listKey: { ...(await custody.generate()), delegation: undefined } };
  const { keyId, publicKey, sealed, validFrom } = ring.keys[0]!;
  const key: SigningKey = { keyId, validFrom, signer: await custody.open({ keyId, publicKey, sealed: sealed! }) };
  return { ring, key };
}

/**
 * 300 snapshots that a ledger signed before it was lost, with their signatures as documents lists
 * them, and further ledgers of the same seal.
 */
async function openLost() {
  await using opening = new AsyncDisposableStack();
  const database = testDatabaseName("signing");
  const mongo = opening.use(await openMongo({ url: inject("mongoUrl"), database, appName: "test" }));
  const sealKey = await custody.openSealKey(await custody.generateSealKey());
  const state = await openSigner();
  const ledgerOf = async (name: string) => {
    const db = mongo.client.db(`${mongo.db.databaseName}_${name}`);
    await ensureIndexes(db, LedgerStore.indexes);
    return new LedgerStore(db, () => sealKey);
  };
  const digests = Array.from({ length: 300 }, (_, at): SnapshotDigest => {
    const documentId = randomUUID();
    return {
      tenantId: "demo",
      documentId,
      sequence: at + 1,
      version: 1,
      status: "usable",
      sha256: digestOf(documentId),
    };
  });
  const signing = (ledger: LedgerStore, now: () => Date) =>
    signDigests({ signingState: async () => state, ledger, now }, digests);
  const original = await signing(await ledgerOf("lost"), early);
  const lines = original.map((outcome, at) => {
    if (outcome.kind !== "signed") throw new Error(outcome.kind);
    const { statement, value, signing: signingNumber } = outcome.signature;
    const { tenantId, documentId, sequence } = digests[at]!;
    return { tenantId, documentId, sequence, statement, signingNumber, value: Buffer.from(value).toString("base64") };
  });
  const held = () => Readable.from(lines.map(toHeldSignature));
  const opened = opening.move();
  const close = () => opened.disposeAsync();
  return {
    ring: state.ring,
    state,
    digests,
    sealKey,
    ledgerOf,
    signing,
    original,
    lines,
    held,
    [Symbol.asyncDispose]: close,
  };
}

test("a ledger adopts the signatures that documents holds, and their snapshots are not signed anew", async () => {
  await using lost = await openLost();
  const { ring, sealKey, signing, original, lines, held } = lost;
  const restored = await lost.ledgerOf("restored");
  // This snapshot was signed anew twice: to replace its signature, a further one must have a higher
  // number than documents has.
  lines[7]!.signingNumber = 3;
  const eighth = original[7]!;
  if (eighth.kind !== "signed") throw new Error(eighth.kind);
  const adopted = original.with(7, { ...eighth, signature: { ...eighth.signature, signing: 3 } });

  expect(await restored.highestSequence()).toBe(0);
  expect(await adoptSignatures({ ledger: restored, ring }, held())).toEqual({ adopted: 300, known: 0, refused: [] });
  expect(await adoptSignatures({ ledger: restored, ring }, held())).toEqual({ adopted: 0, known: 300, refused: [] });
  expect(await restored.highestSequence()).toBe(300);
  expect(await signing(restored, late)).toEqual(adopted);
  const audit = { batches: restored.batches(), sealKey, readRing: async () => ring, notedHead: undefined };
  expect(await auditLedger(audit)).toMatchObject({ entries: 301, fault: undefined });
});

test("a call for one snapshot does not sign it anew when only its third signature was adopted", async () => {
  await using lost = await openLost();
  const { ring, state, digests, original, lines, held } = lost;
  const ledger = await lost.ledgerOf("alone");
  lines[7]!.signingNumber = 3;
  await adoptSignatures({ ledger, ring }, held());
  const signing = { signingState: async () => state, ledger, now: late };
  const third = original[7]?.kind === "signed" && { ...original[7].signature, signing: 3 };
  expect(await signDigests(signing, [digests[7]!])).toEqual([{ kind: "signed", signature: third }]);
});

test("signatures that no key of the ring made are refused", async () => {
  await using lost = await openLost();
  const { held } = lost;
  const [foreign, stranger] = [await lost.ledgerOf("foreign"), await openSigner()];
  const forged = await adoptSignatures({ ledger: foreign, ring: stranger.ring }, held());
  expect(forged).toMatchObject({ adopted: 0, refused: { length: 300 } });
  expect(forged.refused[0]?.reason).toContain("no key of the restored ring");
});

test("signatures of snapshots for which the ledger has other signatures are refused", async () => {
  await using lost = await openLost();
  const { ring, signing, held } = lost;
  const foreign = await lost.ledgerOf("foreign");
  await signing(foreign, late);
  const other = await adoptSignatures({ ledger: foreign, ring }, held());
  expect(other).toMatchObject({ adopted: 0, known: 0, refused: { length: 300 } });
  expect(other.refused[0]?.reason).toBe("the ledger holds another signature than documents");
});

test("an input line without a signature is refused", () => {
  expect(() => toHeldSignature({ tenantId: "demo" })).toThrow("stdin holds no signature");
});
