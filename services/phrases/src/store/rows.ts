import type { Phrase } from "../domain/phrase.ts";

export const withoutOwn = { _id: 0, tenantId: 0 } as const;

/** `phrases`: one row per phrase. Unique on (tenantId, id) and on (tenantId, language, phrase). */
export interface PhraseRow {
  tenantId: string;
  id: string;
  language: string;
  phrase: string;
  caseSensitive: boolean;
  forbidden: boolean;
  commonMistakes: string[];
  description: string;
  createdAt: Date;
  updatedAt: Date;
}

/** The phrase of a row that was read with `withoutOwn`. */
export function fromRow(row: Omit<PhraseRow, "tenantId">): Phrase {
  return row;
}

/** `dictionaries`: one row per tenant, made by its first change. */
export interface DictionaryRow {
  _id: string;
  /**
   * Replaced when a mark is set and when one is removed. A UUIDv7, because a counter would repeat
   * values after a restore from a backup.
   */
  revision: string;
  /** The marks of running changes, and of changes that ended without removing theirs. */
  changes: { token: string; since: Date }[];
}
