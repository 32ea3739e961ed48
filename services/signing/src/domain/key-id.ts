import { createHash } from "node:crypto";

/** The id of a public key (SPKI DER): made from the key itself, so that an entry with another key under it shows. */
export function keyIdOf(publicKey: Uint8Array): string {
  return `ed25519-${createHash("sha256").update(publicKey).digest("base64url").slice(0, 16)}`;
}
