import { hash, randomBytes } from "node:crypto";

interface MintedCode {
  /** 43 characters of base64url, shown once and never stored. */
  readonly code: string;
  readonly hash: Buffer;
}

export function mintCode(): MintedCode {
  const code = randomBytes(32).toString("base64url");
  return { code, hash: hashCode(code) };
}

/**
 * SHA-256 of a code, by which its row is found; plain, because 256 random bits cannot be guessed
 * however cheap the hash is.
 */
export function hashCode(code: string): Buffer {
  return hash("sha256", code, "buffer");
}
