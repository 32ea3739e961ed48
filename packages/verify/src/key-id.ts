import { type Bytes, sha256, toBase64 } from "./bytes.ts";

/**
 * The id of a public key in SPKI DER: `ed25519-` and the first 16 characters of the SHA-256 of
 * these bytes in base64url.
 */
export async function keyIdOf(spki: Bytes): Promise<string> {
  const base64url = toBase64(await sha256(spki))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
  return `ed25519-${base64url.slice(0, 16)}`;
}
