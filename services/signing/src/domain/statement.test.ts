import { createPrivateKey, createPublicKey, webcrypto } from "node:crypto";
import { expect, test } from "vitest";
import { ed25519Signer } from "../custody/ed25519-signer.ts";
import { keyIdOf } from "./key-id.ts";
import { signDigests } from "./sign-digests.ts";
import type { SnapshotDigest } from "./snapshot-digest.ts";
import { parseStatement, statementOf } from "./statement.ts";

/** A published test vector: every implementation of this format must produce the same bytes. */
const vector = {
  seed: Buffer.alloc(32, 0x01),
  publicKey: "MCowBQYDK2VwAyEAiojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=",
  keyId: "ed25519-_RENMB0vB33hQUuP",
  signedAt: new Date("2026-11-21T09:30:00.123Z"),
  statement:
    "vidimus-snapshot-v1\nten_acme\n7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10\n12\n7\nusable\n2026-11-21T09:30:00.123Z\ned25519-_RENMB0vB33hQUuP\nddd55007c629d64ca989ec7dc7afebea40b55522845db7bc6ef143ee163608a9",
  signature: "xt17c5j6KYMjbpSNYognx4nnmpsIJc8r0m4JcNbGdNXPqwnhgl8gyf7VjFCeA82vlISODXoaVHeyUDNOx4R/Cw==",
};

const digest: SnapshotDigest = {
  tenantId: "ten_acme",
  documentId: "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10",
  sequence: 12,
  version: 7,
  status: "usable",
  sha256: Buffer.from("ddd55007c629d64ca989ec7dc7afebea40b55522845db7bc6ef143ee163608a9", "hex"),
};

/** RFC 8410: a PKCS #8 frame of fixed bytes before the seed. */
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), vector.seed]),
  format: "der",
  type: "pkcs8",
});
const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" });

async function signVector(now: Date, validFrom: Date) {
  const key = { keyId: keyIdOf(publicKey), validFrom, signer: ed25519Signer(privateKey) };
  const ledger = { record: async <E>(entries: readonly E[]) => [...entries] };
  const listed = { state: "active" as const, publishedAt: validFrom, validFrom, validUntil: undefined };
  const ring = {
    revision: 1,
    keys: [{ ...listed, keyId: key.keyId, publicKey, activeSince: validFrom, sealed: undefined }],
    listKey: { keyId: "", publicKey, sealed: { custody: "", envelope: publicKey }, delegation: undefined },
  };
  const [outcome] = await signDigests({ signingState: async () => ({ key, ring }), ledger, now: () => now }, [digest]);
  if (outcome?.kind !== "signed") throw new Error("not signed");
  return outcome.signature;
}

test("a key's id is derived from its public key", () => {
  expect(publicKey.toString("base64")).toBe(vector.publicKey);
  expect(keyIdOf(publicKey)).toBe(vector.keyId);
});

test("the vector's digest gives the vector's statement and the vector's signature", async () => {
  const entry = await signVector(vector.signedAt, new Date(0));
  expect(entry.statement).toBe(vector.statement);
  expect(Buffer.from(entry.value).toString("base64")).toBe(vector.signature);
});

test("Web Crypto verifies the signature only over the unchanged statement", async () => {
  const { subtle } = webcrypto;
  const entry = await signVector(vector.signedAt, new Date(0));
  const key = await subtle.importKey("spki", Buffer.from(vector.publicKey, "base64"), "Ed25519", false, ["verify"]);
  const verify = (text: string) =>
    subtle.verify("Ed25519", key, Uint8Array.from(entry.value), new TextEncoder().encode(text));
  expect(await verify(entry.statement)).toBe(true);
  expect(await verify(entry.statement.replace("usable", "usablE"))).toBe(false);
});

test("a signature's time is not before its key's validFrom, even when the signer's clock is behind", async () => {
  const validFrom = new Date("2026-11-21T09:30:02.000Z");
  const entry = await signVector(vector.signedAt, validFrom);
  expect(entry.signedAt).toEqual(validFrom);
  expect(entry.statement.split("\n")[6]).toBe("2026-11-21T09:30:02.000Z");
});

test.each([{ tenantId: "a\nb" }, { documentId: "a\nb" }, { keyId: "a\nb" }])(
  "no statement is made of parts with a line end: %j",
  (forged) => {
    const { keyId, signedAt } = vector;
    expect(() => statementOf({ ...digest, ...forged }, { keyId, signedAt, ...forged })).toThrow("line end");
  },
);

test("a statement is read back as it was made", () => {
  const { keyId, signedAt } = vector;
  expect(parseStatement(vector.statement)).toEqual({ ...digest, keyId, signedAt });
});

test("a text that is not exactly in the form of a statement is not read as a statement", () => {
  const others = ["", "vidimus-snapshot-v1", `${vector.statement}\n`, vector.statement.replace("-v1", "-v2")];
  for (const text of [...others, vector.statement.replace("\n12\n", "\n012\n")]) {
    expect(parseStatement(text)).toBeUndefined();
  }
});
