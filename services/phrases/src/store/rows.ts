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

/** `dictionaries`: one row a tenant, from its first change on. */
export interface DictionaryRow {
  /** The tenant. */
  _id: string;
  /** New when a change begins and when it ends, and never one that was there before: a counter would return with a restored backup. */
  revision: string;
  /** Changes under way, and changes whose process died. */
  changes: { token: string; since: Date }[];
}
