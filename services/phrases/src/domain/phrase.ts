/**
 * A checked phrase of a caller. Texts are trimmed and in NFC; the language is as `parseLanguage`
 * returns it.
 */
export interface PhraseDraft {
  /** Lowercase UUID; absent when the caller gave none. */
  readonly id?: string;
  readonly language: string;
  readonly phrase: string;
  readonly caseSensitive: boolean;
  readonly forbidden: boolean;
  readonly commonMistakes: readonly string[];
  readonly description: string;
}

/** A stored phrase. Its key is its language and its text, case-sensitive. */
export interface Phrase extends PhraseDraft {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The key of a phrase as one string; unique within a tenant. */
export function keyOf({ language, phrase }: Pick<PhraseDraft, "language" | "phrase">): string {
  return `${language}\n${phrase}`;
}
