import { DomainError } from "@vidimus/kit/errors";
import { activeKey, after, isFresh, isReady, type RingKey, validityTailMs } from "./key-ring.ts";

/** The keys of a ring. A change returns the same array when there is nothing to change. */
type Keys = readonly RingKey[];

const hourMs = 3_600_000;
const pauseRenewalMs = 24 * hourMs;

/**
 * Age of the oldest trust list that a receiver uses while gateways reach signing: an hour in its
 * own cache, and up to two in caches on the way.
 */
const trustListAgeMs = 3 * hourMs;

/**
 * Pauses signing by giving the active key an end. During the pause the end is postponed once a day,
 * so that signing can resume with this key. An end that has passed, or is at most three hours
 * ahead, stays, because a receiver may keep a trust list with that end and would refuse the key's
 * later signatures.
 */
export function pauseSigning(keys: Keys, now: Date): Keys {
  const active = activeKey(keys);
  if (!active || (active.validUntil && (isOver(active.validUntil, now) || isRenewed(active.validUntil, now))))
    return keys;
  return replace(keys, active, { validUntil: after(now, validityTailMs) });
}

function isRenewed(end: Date, now: Date): boolean {
  return end > after(now, validityTailMs - pauseRenewalMs);
}

/**
 * Whether the end has passed, or passes while a receiver may still use a trust list that names this
 * end.
 */
function isOver(end: Date, now: Date): boolean {
  return end <= after(now, trustListAgeMs);
}

/**
 * Resumes signing with the same key. When the key has ended, or ends within three hours, it is
 * retired instead, because receivers with an older trust list would refuse its signatures.
 */
export function resumeSigning(keys: Keys, now: Date): Keys {
  const paused = activeKey(keys);
  if (!paused?.validUntil) return keys;
  if (isOver(paused.validUntil, now)) return replace(keys, paused, retirement(paused.validUntil));
  return replace(keys, paused, { validUntil: undefined });
}

/**
 * Makes a pending key active, and retires the one that was active, whose private key is destroyed.
 *
 * @param emergency allows a key that `isReady` refuses. When it was not published long enough ago,
 * receivers with an older trust list refuse its first signatures until they fetch the list again
 * @throws DomainError not_found; failed_precondition when the key is not pending, or when it is not
 * ready and there is no emergency
 */
export function activateKey(keys: Keys, keyId: string, now: Date, { emergency }: { emergency: boolean }): Keys {
  const key = pendingKeyOf(keys, keyId);
  if (!isReady(key, now) && !emergency) {
    throw new DomainError("failed_precondition", `${notReady(key, now)}; an emergency activation does not wait`);
  }
  const standing = activeKey(keys);
  const validFrom = key.validFrom > now ? now : key.validFrom;
  // A pause continues with the new key, until `resumeSigning` ends it.
  const validUntil = standing?.validUntil && after(now, validityTailMs);
  const retired = standing ? replace(keys, standing, retirement(after(now, validityTailMs))) : keys;
  return replace(retired, key, { state: "active", validFrom, validUntil, activeSince: now });
}

/**
 * Retires a pending key, which then never signs. The active key is retired by activating another
 * one.
 *
 * @throws DomainError not_found, or failed_precondition when the key is not pending
 */
export function retireKey(keys: Keys, keyId: string, now: Date): Keys {
  const key = pendingKeyOf(keys, keyId);
  return replace(keys, key, retirement(key.validFrom > now ? key.validFrom : now));
}

/**
 * Revokes a key: it leaves the trust list, and its private key is destroyed. When it was active,
 * the first pending key that may sign becomes active. When none may, nothing signs until one may.
 * In an emergency the first pending key becomes active at once.
 *
 * @throws DomainError not_found; failed_precondition when it is revoked already
 */
export function revokeKey(keys: Keys, keyId: string, now: Date, { emergency }: { emergency: boolean }): Keys {
  const key = keyOf(keys, keyId);
  if (key.state === "revoked") throw new DomainError("failed_precondition", `the key ${keyId} is revoked already`);
  const revoked = replace(keys, key, { ...retirement(now), state: "revoked" });
  if (key.state !== "active") return revoked;
  const successor = revoked.find((each) => (emergency ? each.state === "pending" : isReady(each, now)));
  if (!successor) return revoked;
  const activated = activateKey(revoked, successor.keyId, now, { emergency });
  return key.validUntil ? pauseSigning(activated, now) : activated;
}

/** Retires pending keys whose planned end is too near to use them. */
export function retireStale(keys: Keys, now: Date): Keys {
  const stale = keys.filter((key) => key.state === "pending" && !isFresh(key, now));
  return stale.reduce((rest: Keys, { keyId }) => retireKey(rest, keyId, now), keys);
}

function retirement(validUntil: Date): Partial<RingKey> & Pick<RingKey, "state"> {
  return { state: "retired", validUntil, sealed: undefined };
}

function pendingKeyOf(keys: Keys, keyId: string): RingKey {
  const key = keyOf(keys, keyId);
  if (key.state === "pending") return key;
  throw new DomainError("failed_precondition", `the key ${keyId} is ${key.state}, not pending`);
}

function keyOf(keys: Keys, keyId: string): RingKey {
  const key = keys.find((each) => each.keyId === keyId);
  if (!key) throw new DomainError("not_found", `the key ring has no key ${keyId}`);
  return key;
}

function notReady({ keyId, validFrom }: RingKey, now: Date): string {
  if (validFrom > now) return `the key ${keyId} may sign from ${validFrom.toISOString()} on`;
  return `the planned end of the key ${keyId} is too near`;
}

function replace(keys: Keys, key: RingKey, change: Partial<RingKey>): Keys {
  return keys.map((each) => (each.keyId === key.keyId ? { ...each, ...change } : each));
}
