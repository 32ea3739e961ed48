import type { KeyCustody } from "./key-custody.ts";
import { foundRing, type KeyRing, pauseSigning, resumeSigning } from "./key-ring.ts";
import { openSigningKey } from "./open-signing-key.ts";
import type { SigningKey } from "./sign-snapshots.ts";

/** Keeps the one ring. */
export interface RingStorage {
  /** The ring as it stands; undefined before there was one. */
  read(): Promise<KeyRing | undefined>;
  /** Stores a ring over the revision before it; false when another process was first. */
  save(ring: KeyRing): Promise<boolean>;
}

/**
 * Sees to it that there is a ring and that one of its keys signs. Processes that start at once end with one ring.
 *
 * Keys are opened before anything is stored: a process that cannot use them leaves the ring as it found it.
 *
 * @throws whatever `KeyCustody.open` throws; Error when no key of the ring can sign
 */
export async function turnSigningOn(
  rings: RingStorage,
  custody: KeyCustody,
  now: () => Date,
): Promise<{ ring: KeyRing; key: SigningKey }> {
  return settle(rings, async (standing) => {
    const ring = standing
      ? resumeSigning(standing)
      : foundRing(await custody.generate(), await custody.generate(), now());
    return { ring, key: await openSigningKey(ring, custody) };
  });
}

/**
 * Sees to it that no key of the ring signs; without a ring there is nothing to do. It stands in the ring, not only in
 * this process, because a list that changes must change its revision.
 */
export async function turnSigningOff(rings: RingStorage, now: () => Date): Promise<void> {
  await settle(rings, (standing) => ({ ring: standing && pauseSigning(standing, now()) }));
}

const attemptsMax = 10;

/** Applies a change to the ring as it stands, again and again while others get in first. */
async function settle<R extends { ring: KeyRing | undefined }>(
  rings: RingStorage,
  change: (standing: KeyRing | undefined) => R | Promise<R>,
): Promise<R> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const standing = await rings.read();
    const next = await change(standing);
    if (next.ring === undefined || next.ring === standing || (await rings.save(next.ring))) return next;
  }
  throw new Error(`the key ring was changed by others ${attemptsMax} times while this process started`);
}
