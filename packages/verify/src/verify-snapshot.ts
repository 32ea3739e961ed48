import { fromBase64, sha256, toHex, utf8 } from "./bytes.ts";
import { keyIdOf } from "./key-id.ts";
import { parseStatement, type SnapshotStatement } from "./statement.ts";
import { type TrustedKey, type TrustList, validAt } from "./trust-list.ts";
import { VerificationError } from "./verification-error.ts";

/** The signature of a snapshot, as deliveries and version reads carry it. */
export interface SnapshotSignature {
  readonly keyId: string;
  /** The signed text, verbatim. */
  readonly statement: string;
  /** Base64 of 64 bytes: Ed25519 over the statement's UTF-8. */
  readonly value: string;
}

/**
 * Verifies a snapshot: that a trusted key signed the statement, and that the statement names these
 * bytes. Any genuine snapshot passes, so the caller must compare the returned statement with the
 * document that it expects.
 *
 * @param bytes of the snapshot exactly as they were received, not parsed and written again
 * @param keys `trustListAt(url)`, or the `keys` of `GET /api/keys`
 * @returns the parsed statement
 * @throws VerificationError `key`, `signature` or `digest`, in the cases that `VerificationFault`
 * names
 * @throws TrustListUnavailable when the trust list is needed, and cannot be fetched or is refused
 */
export async function verifySnapshot(
  bytes: Uint8Array,
  signature: SnapshotSignature,
  keys: TrustList | readonly TrustedKey[],
): Promise<SnapshotStatement> {
  const stated = readStatement(signature);
  await checkStatementSignature(signature, await findKey(stated, keys));
  await checkSnapshotDigest(bytes, stated);
  return stated;
}

/**
 * @throws VerificationError `signature` when the statement is malformed, or names another key than
 * its signature
 */
export function readStatement({ keyId, statement }: SnapshotSignature): SnapshotStatement {
  const stated = parseStatement(statement);
  if (stated.keyId !== keyId) {
    throw new VerificationError("signature", `the statement names the key ${stated.keyId}, the signature ${keyId}`);
  }
  return stated;
}

/**
 * @throws VerificationError `key` when the entry's id does not belong to its key, or the key cannot
 * be read; `signature` when the key did not sign the statement
 */
export async function checkStatementSignature(
  { keyId, statement, value }: SnapshotSignature,
  entry: TrustedKey,
): Promise<void> {
  const key = await importKey(entry);
  const signature = fromBase64(value);
  if (!signature || !(await crypto.subtle.verify("Ed25519", key, signature, utf8(statement)))) {
    throw new VerificationError("signature", `the key ${keyId} did not sign the statement`);
  }
}

/** @throws VerificationError `digest` when the statement names the digest of other bytes */
export async function checkSnapshotDigest(bytes: Uint8Array, stated: SnapshotStatement): Promise<void> {
  const digest = toHex(await sha256(new Uint8Array(bytes)));
  if (digest !== stated.sha256) {
    throw new VerificationError("digest", `the snapshot's SHA-256 is ${digest}, but ${stated.sha256} was signed`);
  }
}

/**
 * @throws VerificationError `key` when no key has the id, or the key was not valid at the time of
 * signing
 */
export async function findKey(
  { keyId, signedAt }: SnapshotStatement,
  keys: TrustList | readonly TrustedKey[],
): Promise<TrustedKey> {
  const found =
    "keyFor" in keys ? await keys.keyFor(keyId, signedAt) : keys.find((candidate) => candidate.keyId === keyId);
  if (!found) throw new VerificationError("key", `the trust list has no key ${keyId}`);
  if (!validAt(found, signedAt)) {
    throw new VerificationError("key", `the key ${keyId} was not valid at ${signedAt.toISOString()}`);
  }
  return found;
}

/**
 * A `keyId` is derived from its key, so an entry whose id does not match its key was tampered with.
 */
async function importKey({ keyId, algorithm, publicKey }: TrustedKey) {
  const spki = fromBase64(publicKey);
  if (algorithm !== "ed25519" || !spki || keyId !== (await keyIdOf(spki))) {
    throw new VerificationError("key", `the trust list's entry ${keyId} does not hold the key of that id`);
  }
  try {
    return await crypto.subtle.importKey("spki", spki, "Ed25519", false, ["verify"]);
  } catch {
    throw new VerificationError("key", `the trust list's entry ${keyId} is no Ed25519 key that can be read here`);
  }
}
