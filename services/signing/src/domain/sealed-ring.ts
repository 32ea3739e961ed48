import { timingSafeEqual } from "node:crypto";
import type { SealedKey, SealKey } from "./key-custody.ts";
import { keyIdOf } from "./key-id.ts";
import { assertRing, type KeyRing, type RingKey } from "./key-ring.ts";

/**
 * The stored ring cannot be used, for example because it is malformed, its seal does not hold, it
 * is older than one that was read, or it is gone. The message may be shown to operators.
 */
export class RingFault extends Error {
  override readonly name = "RingFault";
}

export interface SealedRing {
  readonly ring: KeyRing;
  /** The key of `mac`, wrapped. A re-wrap replaces the envelope; the key in it stays the same. */
  readonly seal: SealedKey;
  /**
   * Over revision, keys and list key, so that nobody can change any of them without the seal key.
   */
  readonly mac: Uint8Array;
}

export async function sealRing(ring: KeyRing, seal: SealedKey, sealKey: SealKey): Promise<SealedRing> {
  assertRing(ring);
  return { ring, seal, mac: await sealKey.mac(textOf(ring)) };
}

/**
 * Checks the seal, the rules of a ring, and that the id of each key is derived from the key.
 *
 * @throws RingFault when one of them does not hold
 */
export async function openSealedRing({ ring, mac }: SealedRing, sealKey: SealKey): Promise<KeyRing> {
  const expected = await sealKey.mac(textOf(ring));
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
    throw new RingFault(`the seal of the key ring's revision ${ring.revision} does not hold`);
  }
  const renamed = [...ring.keys, ring.listKey].find(({ keyId, publicKey }) => keyIdOf(publicKey) !== keyId);
  if (renamed) throw new RingFault(`the key ring holds another key under the id ${renamed.keyId}`);
  try {
    assertRing(ring);
  } catch (error) {
    throw new RingFault(`the key ring breaks a rule: ${messageOf(error)}`, { cause: error });
  }
  return ring;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function textOf({ revision, keys, listKey }: KeyRing): Buffer {
  const { keyId, publicKey, sealed, delegation = null } = listKey;
  const listKeyParts = [keyId, toBase64(publicKey), envelopeOf(sealed), delegation];
  return Buffer.from(`vidimus-key-ring-v1\n${JSON.stringify([revision, keys.map(partsOf), listKeyParts])}`);
}

function partsOf(key: RingKey): readonly unknown[] {
  const { keyId, publicKey, state, publishedAt, validFrom, validUntil, activeSince, sealed } = key;
  const dates = [publishedAt, validFrom, validUntil, activeSince].map((date) => date?.toISOString() ?? null);
  return [keyId, toBase64(publicKey), state, ...dates, sealed ? envelopeOf(sealed) : null];
}

function envelopeOf({ custody, envelope }: SealedKey): readonly string[] {
  return [custody, toBase64(envelope)];
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
