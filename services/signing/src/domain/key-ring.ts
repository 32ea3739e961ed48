import type { CustodyKey, SealedKey } from "./key-custody.ts";

/**
 * - `pending`: published, does not sign yet
 * - `active`: signs, unless signing is paused
 * - `retired`: signs no more, stays in the trust list
 * - `revoked`: not to be trusted, not in the trust list
 */
export type KeyState = "pending" | "active" | "retired" | "revoked";

/** One key of the ring. */
export interface RingKey {
  readonly keyId: string;
  /** SPKI DER. */
  readonly publicKey: Uint8Array;
  readonly state: KeyState;
  /** When it entered the trust list. */
  readonly publishedAt: Date;
  /** Earliest time of its first signature. Planned while pending, and not changed later. */
  readonly validFrom: Date;
  /** Undefined while the key signs. Planned while pending. */
  readonly validUntil: Date | undefined;
  /** The private key; undefined once retired or revoked, when it has been destroyed. */
  readonly sealed: SealedKey | undefined;
}

/** Every key ever made, oldest first. Each change gives a new revision of the whole. */
export interface KeyRing {
  /** From 1; each change adds 1. */
  readonly revision: number;
  readonly keys: readonly RingKey[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** How long a key is published before it signs. Receivers cache the trust list for an hour. */
const prepublishMs = 24 * hourMs;

/** How long a key is planned to sign. */
const plannedLifeMs = 365 * dayMs;

/**
 * How long a key stays valid after its last signature. Delivery of a snapshot is retried for 72
 * hours, a delivery can be replayed for 30 days after that, and some receivers compare `validUntil`
 * with their own clock instead of the signing time.
 */
const validityTailMs = 33 * dayMs;

/**
 * The first ring: one key that signs at once, because no receiver has a trust list without it, and
 * one standby.
 */
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

/**
 * Pauses signing: gives the active key an end. Returns the same ring when signing is paused
 * already.
 */
export function pauseSigning(ring: KeyRing, now: Date): KeyRing {
  const signing = signingKey(ring);
  return signing ? withValidUntil(ring, signing, after(now, validityTailMs)) : ring;
}

/**
 * Resumes signing with the same key. Returns the same ring when signing is on, or when no key is
 * active.
 */
export function resumeSigning(ring: KeyRing): KeyRing {
  const paused = ring.keys.find(({ state }) => state === "active");
  return paused?.validUntil ? withValidUntil(ring, paused, undefined) : ring;
}

/** The keys of the trust list: all but the revoked ones. */
export function listedKeys(ring: KeyRing): readonly RingKey[] {
  return ring.keys.filter(({ state }) => state !== "revoked");
}

/**
 * Checks the rules of a ring. Called before a ring is stored and after it is read.
 *
 * @throws Error naming the broken rule; the cause is a bug or an edit of the database by hand
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
