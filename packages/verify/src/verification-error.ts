/**
 * - `body`: the body was changed on the way, parsed before it was verified, or is no delivery of
 *   Vidimus, or a header is missing, malformed or of another delivery
 * - `secret`: no HMAC of the request matches with this secret, or the secret is malformed
 * - `clock`: the delivery was sent more than five minutes before or after the receiver's time
 * - `key`: no trusted key has the signature's `keyId`, the key was not valid at the time of
 *   signing, or its entry does not hold the Ed25519 key of that id
 * - `signature`: the key did not sign the statement, or the statement is malformed, names another
 *   key or is about another snapshot
 * - `digest`: the snapshot's bytes are not those that the statement names
 * - `list`: the trust list is malformed, was not stated by the platform, is too old or from the
 *   future, or is older than one seen before
 */
export type VerificationFault = "body" | "secret" | "clock" | "key" | "signature" | "digest" | "list";

/**
 * A delivery, a snapshot or a trust list that must not be used. Answer such a delivery with 400.
 */
export class VerificationError extends Error {
  override readonly name = "VerificationError";
  readonly fault: VerificationFault;

  constructor(fault: VerificationFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
