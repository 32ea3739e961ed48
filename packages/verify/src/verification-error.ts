/**
 * What is wrong with a delivery:
 *
 * - `body`: it was changed on the way, parsed before it was verified, or is no delivery of
 * Vidimus
 * - `secret`: the HMAC was not made with this secret
 * - `clock`: it was sent more than five minutes ago, or in the future
 * - `key`: no trusted key has the signature's `keyId`, or it was not valid at the time of signing
 * - `signature`: the key did not sign the statement, or the statement is about another snapshot
 * - `digest`: the snapshot's bytes are not those that the statement names
 * - `list`: the trust list was not stated by the platform, is too old, or is older than one seen
 *   before
 */
export type VerificationFault = "body" | "secret" | "clock" | "key" | "signature" | "digest" | "list";

/** A delivery or snapshot that must not be used. Answer it with 400. */
export class VerificationError extends Error {
  override readonly name = "VerificationError";
  readonly fault: VerificationFault;

  constructor(fault: VerificationFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
