import { InvalidArgumentError } from "commander";

/** An Ed25519 public key: base64 of SPKI DER. */
export const publicKeyPattern = /^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/**
 * Commander's parser of an option.
 *
 * @throws InvalidArgumentError, which commander prints; the command then exits with 2
 */
export function publicKey(text: string): string {
  if (publicKeyPattern.test(text)) return text;
  throw new InvalidArgumentError("must be an Ed25519 public key: base64 of SPKI DER.");
}
