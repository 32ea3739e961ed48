import type { CustodyKey, SealedKey } from "./key-custody.ts";

/**
 * - `pending`: published, does not sign yet
 * - `active`: signs, unless signing is paused
 * - `retired`: no longer signs, stays in the trust list
 * - `revoked`: not to be trusted, not in the trust list
 */
export type KeyState = "pending" | "active" | "retired" | "revoked";

export interface RingKey {
  readonly keyId: string;
  /** SPKI DER. */
  readonly publicKey: Uint8Array;
  readonly state: KeyState;
  /** When the key entered the trust list. */
  readonly publishedAt: Date;
  /**
   * Earliest time of its first signature. Planned when the key is made; an emergency activation
   * makes it earlier.
   */
  readonly validFrom: Date;
  /** Undefined while the key signs; planned while it is pending. */
  readonly validUntil: Date | undefined;
  /** When the key became active; undefined before. */
  readonly activeSince: Date | undefined;
  /** The private key; undefined once retired or revoked, because it was destroyed. */
  readonly sealed: SealedKey | undefined;
}

/** The key that signs statements about the trust list, and no snapshots. */
export interface ListKey extends CustodyKey {
  /**
   * The offline root's delegation, as `domain/delegation.ts` reads it; undefined while none is
   * installed.
   */
  readonly delegation: string | undefined;
}

/**
 * Every key that was ever published, oldest first. Each change makes a new revision of the whole
 * ring.
 */
export interface KeyRing {
  /** From 1; each change adds 1, a restore adds more. */
  readonly revision: number;
  /** Empty until signing is switched on for the first time. */
  readonly keys: readonly RingKey[];
  readonly listKey: ListKey;
}

const dayMs = 86_400_000;

/** Planned time from a key's earliest signature to the end of its validity. */
const plannedLifeMs = 365 * dayMs;

/**
 * How long a key stays valid after its last signature. Delivery of a snapshot is retried for 72
 * hours, a delivery can be replayed for 30 days after that, and some receivers compare `validUntil`
 * with their own clock instead of the signing time.
 */
export const validityTailMs = 33 * dayMs;

/**
 * The keys of a first ring: one that signs at once. It is not published beforehand, because there
 * was no webhook to verify yet: receivers have no trust list, or the empty one of a platform whose
 * signing was never on.
 */
export function foundingKeys(first: CustodyKey, now: Date): RingKey[] {
  return [{ ...first, state: "active", publishedAt: now, validFrom: now, validUntil: undefined, activeSince: now }];
}

export function pendingKey(key: CustodyKey, now: Date, prepublishMs: number): RingKey {
  const validFrom = after(now, prepublishMs);
  const validUntil = after(validFrom, plannedLifeMs);
  return { ...key, state: "pending", publishedAt: now, validFrom, validUntil, activeSince: undefined };
}

/** The key that signs; undefined while signing is paused or no key may sign yet. */
export function signingKey({ keys }: Pick<KeyRing, "keys">): RingKey | undefined {
  return keys.find(({ state, validUntil }) => state === "active" && validUntil === undefined);
}

/** The active key, even while signing is paused. */
export function activeKey(keys: readonly RingKey[]): RingKey | undefined {
  return keys.find(({ state }) => state === "active");
}

/** The keys of the trust list. */
export function listedKeys(ring: KeyRing): readonly RingKey[] {
  return ring.keys.filter(({ state }) => state !== "revoked");
}

/**
 * Whether a key may become active: it was published long enough ago, and its planned end is more
 * than `validityTailMs` ahead.
 */
export function isReady(key: RingKey, now: Date): boolean {
  return key.state === "pending" && key.validFrom <= now && isFresh(key, now);
}

/** Whether a pending key's planned end leaves time to use it. */
export function isFresh({ validUntil }: RingKey, now: Date): boolean {
  return validUntil !== undefined && validUntil > after(now, validityTailMs);
}

/**
 * Checks the rules of a ring, before it is stored and after it is read.
 *
 * @throws Error naming the rule that a bug has broken
 */
export function assertRing({ revision, keys }: KeyRing): void {
  const active = keys.filter(({ state }) => state === "active");
  if (!Number.isSafeInteger(revision) || revision < 1) throw new Error(`the key ring has revision ${revision}`);
  if (active.length > 1) throw new Error(`the key ring has ${active.length} active keys`);
  if (new Set(keys.map(({ keyId }) => keyId)).size < keys.length) throw new Error("the key ring names a key twice");
  for (const { keyId, state, validUntil, activeSince, sealed } of keys) {
    const maySign = state === "active" || state === "pending";
    if (state === "active" && !activeSince) throw new Error(`the active key ${keyId} lacks its time of activation`);
    if (validUntil === undefined && state !== "active") throw new Error(`the ${state} key ${keyId} has no end`);
    if (maySign !== (sealed !== undefined)) {
      throw new Error(`the ${state} key ${keyId} ${sealed ? "still has" : "lacks"} its private key`);
    }
  }
}

export function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}
