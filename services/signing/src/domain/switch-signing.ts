import type { KeyCustody } from "./key-custody.ts";
import { foundRing, type KeyRing, pauseSigning, resumeSigning } from "./key-ring.ts";
import { openSigningKey } from "./open-signing-key.ts";
import type { SigningKey } from "./sign-digests.ts";
import { type RingStorage, updateRing } from "./update-ring.ts";

/**
 * Turns signing on: makes the ring if there is none, and resumes signing if it was paused.
 * Processes that start at the same time end with one ring.
 *
 * The keys are opened before the ring is stored, so a process that cannot open them leaves the ring
 * unchanged.
 *
 * @throws whatever `KeyCustody.open` throws; Error when no key of the ring can sign
 */
export async function turnSigningOn(
  rings: RingStorage,
  custody: KeyCustody,
  now: () => Date,
): Promise<{ ring: KeyRing; key: SigningKey }> {
  return updateRing(rings, async (standing) => {
    const ring = standing
      ? resumeSigning(standing)
      : foundRing(await custody.generate(), await custody.generate(), now());
    return { ring, key: await openSigningKey(ring, custody) };
  });
}

/**
 * Turns signing off: pauses the ring; without a ring it does nothing. The pause is stored, because
 * it changes the trust list, and every change of the list needs a new revision.
 */
export async function turnSigningOff(rings: RingStorage, now: () => Date): Promise<void> {
  await updateRing(rings, (standing) => ({ ring: standing && pauseSigning(standing, now()) }));
}
