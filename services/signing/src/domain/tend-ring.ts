import type { CustodyKey } from "./key-custody.ts";
import { activeKey, after, foundingKeys, isFresh, isReady, pendingKey, type RingKey } from "./key-ring.ts";
import { activateKey, resumeSigning, retireStale } from "./ring-changes.ts";

/** An operator's rules for the life of keys. */
export interface RingRules {
  /** Milliseconds for which a pending key is published before it may sign. */
  readonly prepublishMs: number;
  /**
   * Age at which the active key is replaced, in milliseconds; undefined to replace keys only by
   * hand.
   */
  readonly rotateAfterMs: number | undefined;
}

/** Makes a key pair, wrapped with the KEK of the ring that was read last. */
export type GenerateKey = () => Promise<CustodyKey>;

/**
 * Makes the due changes of the ring, in a process that signs: resumes signing, retires pending keys
 * whose planned end is too near, activates a pending key that may sign when the active key is
 * missing or too old, and keeps at least one key pending.
 *
 * @param keys undefined when there is no ring yet, empty when signing was never on
 * @returns the same array when nothing is due
 */
export async function tendRing(
  keys: readonly RingKey[] | undefined,
  now: Date,
  rules: RingRules,
  generate: GenerateKey,
): Promise<readonly RingKey[]> {
  if (!keys?.length) return withStandby(foundingKeys(await generate(), now), now, rules, generate);
  const rotated = rotate(retireStale(resumeSigning(keys, now), now), now, rules);
  return withStandby(rotated, now, rules, generate);
}

/** Adds a pending key, unless there is one whose planned end leaves time to use it. */
export async function withStandby(
  keys: readonly RingKey[],
  now: Date,
  { prepublishMs }: RingRules,
  generate: GenerateKey,
): Promise<readonly RingKey[]> {
  const hasStandby = keys.some((key) => key.state === "pending" && isFresh(key, now));
  return hasStandby ? keys : [...keys, pendingKey(await generate(), now, prepublishMs)];
}

function rotate(keys: readonly RingKey[], now: Date, { rotateAfterMs }: RingRules): readonly RingKey[] {
  const since = activeKey(keys)?.activeSince;
  const isDue = !since || (rotateAfterMs !== undefined && after(since, rotateAfterMs) <= now);
  const successor = isDue && keys.find((key) => isReady(key, now));
  return successor ? activateKey(keys, successor.keyId, now, { emergency: false }) : keys;
}
