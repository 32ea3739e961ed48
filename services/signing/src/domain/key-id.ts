import { createHash } from "node:crypto";

/**
 * The id of a public key (SPKI DER): `ed25519-` and 16 characters of its digest. It is derived from
 * the key, so that a receiver notices when another key is listed under its id.
 */
export function keyIdOf(publicKey: Uint8Array): string {
  return `ed25519-${createHash("sha256").update(publicKey).digest("base64url").slice(0, 16)}`;
}
