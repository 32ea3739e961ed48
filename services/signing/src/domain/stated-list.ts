import { hash } from "node:crypto";
import type { Signer } from "./key-custody.ts";
import { type KeyRing, listedKeys, type RingKey, signingKey } from "./key-ring.ts";

/** A trust list, and signing's signed statement about it. */
export interface StatedList {
  readonly ring: KeyRing;
  /** The body of `GET /api/keys`, byte for byte. */
  readonly body: Buffer;
  /** `vidimus-trust-v1`, revision, time of issue and SHA-256 of the body in hex, joined by LF. */
  readonly statement: string;
  /** Ed25519 by the list key over the statement, 64 bytes. */
  readonly signature: Uint8Array;
}

/**
 * How often lists are signed again. Must be at most an hour, because receivers refuse a list that
 * was signed more than 25 hours ago, and a gateway serves one for 24 hours while signing is down.
 */
const stateEveryMs = 1_800_000;

/**
 * The time of issue is the beginning of the half hour, so that all processes make the same
 * statement, and readers of all gateways get the same entity tag.
 *
 * @param signer of the list key
 */
export async function stateList(ring: KeyRing, now: Date, signer: Signer): Promise<StatedList> {
  const body = Buffer.from(listJson(ring));
  const digest = hash("sha256", body);
  const statement = ["vidimus-trust-v1", ring.revision, issuedAt(now).toISOString(), digest].join("\n");
  return { ring, body, statement, signature: await signer.sign(Buffer.from(statement)) };
}

export function isCurrent({ ring, statement }: StatedList, revision: number, now: Date): boolean {
  return ring.revision === revision && statement.split("\n")[2] === issuedAt(now).toISOString();
}

function issuedAt(now: Date): Date {
  return new Date(Math.floor(now.getTime() / stateEveryMs) * stateEveryMs);
}

function listJson(ring: KeyRing): string {
  return JSON.stringify({ active: signingKey(ring)?.keyId ?? null, keys: listedKeys(ring).map(entryOf) });
}

function entryOf({ keyId, publicKey, validFrom, validUntil }: RingKey) {
  return {
    keyId,
    algorithm: "ed25519",
    publicKey: Buffer.from(publicKey).toString("base64"),
    validFrom: validFrom.toISOString(),
    validUntil: validUntil?.toISOString() ?? null,
  };
}
