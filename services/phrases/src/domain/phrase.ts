/** What a caller says about a phrase. Texts are in NFC and trimmed, the language is canonical. */
export interface PhraseDraft {
  /** Lowercase UUID; absent when the caller left it to the service. */
  readonly id?: string;
  readonly language: string;
  readonly phrase: string;
  readonly caseSensitive: boolean;
  readonly forbidden: boolean;
  readonly commonMistakes: readonly string[];
  readonly description: string;
}

/** A phrase as it is kept. Its key is its language and its text, in exact case. */
export interface Phrase extends PhraseDraft {
  readonly id: string;
  readonly createdAt: Date;
  /** When it last changed. */
  readonly updatedAt: Date;
}

/** What tells the phrases of a tenant apart. */
export function keyOf({ language, phrase }: Pick<PhraseDraft, "language" | "phrase">): string {
  return `${language}\n${phrase}`;
}
