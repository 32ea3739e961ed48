import { createHmac, type KeyObject } from "node:crypto";

/** What an endorsement covers. */
export interface EndorsedSignature {
  /** The signed text. It names the snapshot, the key and the digest. */
  readonly statement: string;
  /** 64 bytes. */
  readonly value: Uint8Array;
  /** 1, or higher for a snapshot that was signed anew after a revocation. */
  readonly signingNumber: number;
}

/**
 * The endorsement of a signature, by which signing proves to documents that it made the signature:
 * HMAC-SHA256 over `vidimus-endorsement-v1`, the signing number, the value in base64 and the
 * statement, joined by LF. Only these two services have the key, which is also the key of
 * `attestationOf`. So delivery, which passes signatures on, cannot hand in others.
 *
 * @returns 32 bytes
 */
export function endorsementOf(key: KeyObject, { statement, value, signingNumber }: EndorsedSignature): Buffer {
  const lines = ["vidimus-endorsement-v1", signingNumber, Buffer.from(value).toString("base64"), statement];
  return createHmac("sha256", key).update(lines.join("\n")).digest();
}
