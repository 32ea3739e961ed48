import type { KeyRing, RingKey } from "./key-ring.ts";
import type { RingEntry } from "./ring-entry.ts";

/** Keeps the one ring. */
export interface RingStorage {
  /**
   * The ring as it stands; undefined before the first one is stored.
   *
   * @throws RingFault when it was changed by something else than `save`
   */
  read(): Promise<KeyRing | undefined>;
  /**
   * Replaces the revision before `ring`, and stores `entry` with it; false when another process
   * replaced it first.
   */
  save(ring: KeyRing, entry?: RingEntry): Promise<boolean>;
}

const attemptsMax = 10;

/**
 * Applies a change to the ring as it stands, and again when another process saved a change in
 * between. A change that returns the keys it was given, or undefined, stores nothing.
 *
 * @param entryOf of a change by an operator: makes the entry of the audit log from the changed ring
 * @returns the ring as it stands afterwards
 * @throws Error after ten attempts; whatever `change` throws
 */
export async function updateRing(
  rings: RingStorage,
  change: (standing: KeyRing | undefined) => Promise<readonly RingKey[] | undefined>,
  entryOf?: (ring: KeyRing) => RingEntry,
): Promise<KeyRing | undefined> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const standing = await rings.read();
    const keys = await change(standing);
    if (keys === undefined || keys === standing?.keys) return standing;
    const ring = { revision: (standing?.revision ?? 0) + 1, keys };
    if (await rings.save(ring, entryOf?.(ring))) return ring;
  }
  throw new Error(`other processes changed the key ring ${attemptsMax} times in between`);
}
