/** A private key as it rests: nothing in it is secret without what its custody alone holds. */
export interface SealedKey {
  /** Name of the custody that sealed it. */
  readonly custody: string;
  /** For that custody only: an envelope, or the name of a key in a remote KMS. */
  readonly envelope: Uint8Array;
}

/** A key pair in custody. */
export interface CustodyKey {
  readonly keyId: string;
  /** SPKI DER. */
  readonly publicKey: Uint8Array;
  readonly sealed: SealedKey;
}

/** Signs with one private key. */
export interface Signer {
  /** Pure Ed25519 over the message, 64 bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** Makes, keeps and uses private keys. There is no way to get one out. */
export interface KeyCustody {
  /** Makes an Ed25519 key pair. */
  generate(): Promise<CustodyKey>;
  /**
   * Readies a key for signing.
   *
   * @throws ConfigError when this custody is not, or not rightly, configured for the key
   * @throws Error when the sealed key, its id or its public key have been changed
   */
  open(key: CustodyKey): Promise<Signer>;
}
