/** `phrases`: one row a phrase. Unique on (tenantId, id) and on (tenantId, language, phrase). */
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

/** `dictionaries`: one row a tenant, replaced in every transaction that changes one of its phrases. */
export interface DictionaryRow {
  /** The tenant. */
  _id: string;
  /** New at every change, and never one that was there before: a counter would return after a restored backup. */
  revision: string;
}
