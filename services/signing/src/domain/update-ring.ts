import type { CustodyKey } from "./key-custody.ts";
import type { KeyRing, RingKey } from "./key-ring.ts";
import type { RingEntry } from "./ring-entry.ts";

/** Keeps the ring: `sealed-rings.ts`. */
export interface RingStorage {
  /**
   * The current ring; undefined before the first one is stored.
   *
   * @throws RingFault when the stored ring cannot be used
   */
  read(): Promise<KeyRing | undefined>;
  /**
   * Replaces the revision before that of `ring`, and stores `entry` with `ring`. False when another
   * process replaced that revision first.
   */
  save(ring: KeyRing, entry?: RingEntry): Promise<boolean>;
  /** Makes a key, wrapped with the KEK that wraps the seal of the last read ring. */
  generate(): Promise<CustodyKey>;
}

const attemptsMax = 10;

/**
 * Applies a change to the keys of the current ring, and repeats it when another process saved a
 * change in between. A change that returns the same keys, or undefined, stores nothing. The first
 * ring gets a list key.
 *
 * @param entryOf makes the audit log's entry from the changed ring, for a change by an operator
 * @returns the ring afterwards; undefined when there is none
 * @throws Error after ten attempts; errors of `change` and of `rings`
 */
export function updateRing(
  rings: RingStorage,
  change: (standing: KeyRing | undefined) => Promise<readonly RingKey[] | undefined>,
  entryOf?: (ring: KeyRing) => RingEntry,
): Promise<KeyRing | undefined> {
  const changeRing = async (standing: KeyRing | undefined) => {
    const keys = await change(standing);
    if (keys === undefined || keys === standing?.keys) return undefined;
    return { keys, listKey: standing?.listKey ?? { ...(await rings.generate()), delegation: undefined } };
  };
  return replaceRing(rings, changeRing, entryOf);
}

/**
 * Applies a change to the whole ring, as `updateRing` does. A change that returns undefined stores
 * nothing.
 */
export async function replaceRing(
  rings: RingStorage,
  change: (standing: KeyRing | undefined) => Promise<Omit<KeyRing, "revision"> | undefined>,
  entryOf?: (ring: KeyRing) => RingEntry,
): Promise<KeyRing | undefined> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const standing = await rings.read();
    const changed = await change(standing);
    if (changed === undefined) return standing;
    const ring = { ...changed, revision: (standing?.revision ?? 0) + 1 };
    if (await rings.save(ring, entryOf?.(ring))) return ring;
  }
  throw new Error(`other processes changed the key ring ${attemptsMax} times in between`);
}
