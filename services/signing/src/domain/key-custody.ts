/** A private key, or the secret key of a `SealKey`, as it is stored. */
export interface SealedKey {
  /** Name of the custody that sealed it. */
  readonly custody: string;
  /** Readable by that custody only: the encrypted key, or the name of a key in a remote KMS. */
  readonly envelope: Uint8Array;
}

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

/** The key that seals the ring and the ledger. */
export interface SealKey {
  /** HMAC-SHA256, 32 bytes. */
  mac(message: Uint8Array): Promise<Uint8Array>;
}

/** Makes and uses private keys, and returns them only sealed. */
export interface KeyCustody {
  /**
   * Ids of the KEKs that this process holds, newest first. Empty when the custody needs no secret
   * of this process.
   */
  readonly kekIds: readonly string[];
  /**
   * Makes an Ed25519 key pair.
   *
   * @param seal of the ring that gets the key. The key is wrapped by the same KEK, because other
   * processes of the ring may not have a newer one yet. Without a seal it is wrapped by the newest
   */
  generate(seal?: SealedKey): Promise<CustodyKey>;
  /**
   * Opens a key for signing.
   *
   * @throws ConfigError when the key belongs to another custody, or this one is configured with
   * another secret
   * @throws Error when the sealed key, its id or its public key was changed
   */
  open(key: CustodyKey): Promise<Signer>;
  generateSealKey(): Promise<SealedKey>;
  /** @throws as `open` does */
  openSealKey(sealed: SealedKey): Promise<SealKey>;
  /**
   * Wraps a private key with the newest KEK.
   *
   * @returns `key.sealed` itself when that KEK has wrapped it already
   * @throws as `open` does
   */
  rewrap(key: CustodyKey): Promise<SealedKey>;
  /** Wraps the seal key with the newest KEK, as `rewrap` does. */
  rewrapSealKey(sealed: SealedKey): Promise<SealedKey>;
}
