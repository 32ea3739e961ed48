import type { KeyCustody } from "./key-custody.ts";
import { type KeyRing, signingKey } from "./key-ring.ts";
import type { SigningKey } from "./sign-digests.ts";

/**
 * Opens the key that signs. Opens the other keys that may sign later too: a standby that cannot be
 * opened must fail the start now, and not only when it is needed.
 *
 * @throws whatever `KeyCustody.open` throws; Error when no key of the ring signs
 */
export async function openSigningKey(ring: KeyRing, custody: Pick<KeyCustody, "open">): Promise<SigningKey> {
  const signing = signingKey(ring);
  if (!signing) throw new Error("the key ring has no key that signs");
  let opened: SigningKey | undefined;
  for (const { keyId, publicKey, sealed, validFrom } of ring.keys) {
    if (!sealed) continue;
    const signer = await custody.open({ keyId, publicKey, sealed });
    if (keyId === signing.keyId) opened = { keyId, validFrom, signer };
  }
  if (!opened) throw new Error(`the signing key ${signing.keyId} has no private key`);
  return opened;
}
