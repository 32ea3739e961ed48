import type { KeyRing } from "./key-ring.ts";

/** Keeps the one ring. */
export interface RingStorage {
  /** The ring as it stands; undefined before the first one is stored. */
  read(): Promise<KeyRing | undefined>;
  /** Replaces the revision before `ring`; false when another process replaced it first. */
  save(ring: KeyRing): Promise<boolean>;
}

const attemptsMax = 10;

/**
 * Applies a change to the ring as it stands, and again when another process saved a change in
 * between. A change that returns the ring it was given, or undefined, stores nothing.
 *
 * @returns what the last call of `change` returned
 * @throws Error after ten attempts; whatever `change` throws
 */
export async function updateRing<R extends { ring: KeyRing | undefined }>(
  rings: RingStorage,
  change: (standing: KeyRing | undefined) => R | Promise<R>,
): Promise<R> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const standing = await rings.read();
    const next = await change(standing);
    if (next.ring === undefined || next.ring === standing || (await rings.save(next.ring))) return next;
  }
  throw new Error(`other processes changed the key ring ${attemptsMax} times while this one started`);
}
