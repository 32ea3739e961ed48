/** An entry of `GET /api/keys`. */
export interface TrustedKey {
  readonly keyId: string;
  /** Always `ed25519`. */
  readonly algorithm: string;
  /** Base64 of SPKI DER. */
  readonly publicKey: string;
  /** ISO 8601. Nothing is signed with the key earlier. */
  readonly validFrom: string;
  /** ISO 8601; null for the key that signs now. Nothing is signed with the key later. */
  readonly validUntil: string | null;
}

/** Made by `trustListAt`. */
export interface TrustList {
  /**
   * Returns the entry with this id, even if it was not valid at `signedAt`; undefined when there is
   * none. In both cases a newer list may be fetched first.
   */
  keyFor(keyId: string, signedAt: Date): Promise<TrustedKey | undefined>;
}

export function validAt({ validFrom, validUntil }: TrustedKey, signedAt: Date): boolean {
  const at = signedAt.getTime();
  return at >= Date.parse(validFrom) && (validUntil === null || at <= Date.parse(validUntil));
}

/** Checks the types of the members, not their formats. */
export function isTrustedKey(entry: unknown): entry is TrustedKey {
  if (typeof entry !== "object" || entry === null) return false;
  const { keyId, algorithm, publicKey, validFrom, validUntil }: Partial<Record<keyof TrustedKey, unknown>> = entry;
  const texts = [keyId, algorithm, publicKey, validFrom, validUntil === null ? "" : validUntil];
  return texts.every((text) => typeof text === "string");
}
