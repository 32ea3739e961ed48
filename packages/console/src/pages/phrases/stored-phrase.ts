/** A phrase in the JSON of the service. */
export interface StoredPhrase {
  readonly id: string;
  readonly language: string;
  readonly phrase: string;
  readonly caseSensitive: boolean;
  readonly forbidden: boolean;
  readonly commonMistakes: readonly string[];
  readonly description: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export function readPhrase(json: Uint8Array): StoredPhrase {
  return JSON.parse(Buffer.from(json).toString()) as StoredPhrase;
}

export function readPhrases(json: Uint8Array): StoredPhrase[] {
  return JSON.parse(Buffer.from(json).toString()) as StoredPhrase[];
}
