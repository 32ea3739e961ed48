import type { CustodyKey, SealedKey } from "./key-custody.ts";

/** pending: published, does not sign. retired: no longer signs, listed for ever. revoked: not to be trusted, unlisted. */
export type KeyState = "pending" | "active" | "retired" | "revoked";

/** One key of the ring. */
export interface RingKey {
  readonly keyId: string;
  /** SPKI DER. */
  readonly publicKey: Uint8Array;
  readonly state: KeyState;
  /** Since when it has been in the trust list. */
  readonly publishedAt: Date;
  /** Earliest first signature: planned while pending, kept from then on. */
  readonly validFrom: Date;
  /** Undefined while the key signs. Planned while pending. */
  readonly validUntil: Date | undefined;
  /** Undefined once retired or revoked: the private key is gone. */
  readonly sealed: SealedKey | undefined;
}

/** All keys there ever were, oldest first, as one value: every change of it is a new revision or none. */
export interface KeyRing {
  /** From 1, one more with every change. */
  readonly revision: number;
  readonly keys: readonly RingKey[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** How long a key is published before it signs: many times the hour for which receivers keep the list. */
const prepublishMs = 24 * hourMs;

/** How long a key is planned to sign. */
const plannedLifeMs = 365 * dayMs;

/**
 * How long a key that signs no more stays valid: a snapshot may be under way for 72 hours and be replayed for 30 days
 * after that, and some receivers compare `validUntil` with their own clock instead of the signing time.
 */
const validityTailMs = 33 * dayMs;

/** The first ring: one key that signs at once, since nobody holds a list without it yet, and one standby. */
export function foundRing(first: CustodyKey, standby: CustodyKey, now: Date): KeyRing {
  const earliest = after(now, prepublishMs);
  return {
    revision: 1,
    keys: [
      { ...first, state: "active", publishedAt: now, validFrom: now, validUntil: undefined },
      {
        ...standby,
        state: "pending",
        publishedAt: now,
        validFrom: earliest,
        validUntil: after(earliest, plannedLifeMs),
      },
    ],
  };
}

/** The key that signs; undefined while signing is off. */
export function signingKey(ring: KeyRing): RingKey | undefined {
  return ring.keys.find(({ state, validUntil }) => state === "active" && validUntil === undefined);
}

/** Signing goes off: the active key gets an end. The ring itself when it was off already. */
export function pauseSigning(ring: KeyRing, now: Date): KeyRing {
  const signing = signingKey(ring);
  return signing ? withValidUntil(ring, signing, after(now, validityTailMs)) : ring;
}

/** Signing goes on again, with the same key. The ring itself when it was on already, or when no key is active. */
export function resumeSigning(ring: KeyRing): KeyRing {
  const paused = ring.keys.find(({ state }) => state === "active");
  return paused?.validUntil ? withValidUntil(ring, paused, undefined) : ring;
}

/** The entries of the trust list: whatever was not revoked. */
export function listedKeys(ring: KeyRing): readonly RingKey[] {
  return ring.keys.filter(({ state }) => state !== "revoked");
}

/**
 * Asserts what must hold of every ring that is stored or read back.
 *
 * @throws Error naming what does not hold: a bug, or a hand in the database
 */
export function assertRing({ revision, keys }: KeyRing): void {
  const active = keys.filter(({ state }) => state === "active");
  if (!Number.isSafeInteger(revision) || revision < 1) throw new Error(`the key ring has revision ${revision}`);
  if (active.length > 1) throw new Error(`the key ring has ${active.length} active keys`);
  if (new Set(keys.map(({ keyId }) => keyId)).size < keys.length) throw new Error("the key ring names a key twice");
  for (const { keyId, state, validUntil, sealed } of keys) {
    const maySign = state === "active" || state === "pending";
    if (validUntil === undefined && state !== "active") throw new Error(`the ${state} key ${keyId} has no end`);
    if (maySign !== (sealed !== undefined)) {
      throw new Error(`the ${state} key ${keyId} ${sealed ? "still has" : "lacks"} its private key`);
    }
  }
}

function withValidUntil(ring: KeyRing, key: RingKey, validUntil: Date | undefined): KeyRing {
  const keys = ring.keys.map((each) => (each === key ? { ...key, validUntil } : each));
  return { revision: ring.revision + 1, keys };
}

function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}
