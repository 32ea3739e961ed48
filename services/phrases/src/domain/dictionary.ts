import type { Phrase, PhraseDraft } from "./phrase.ts";
import type { PageQuery, PhrasePage } from "./phrase-page.ts";
import type { PhraseWrite } from "./plan-upserts.ts";

export interface Wanted {
  readonly ids: readonly string[];
  readonly keys: readonly Pick<PhraseDraft, "language" | "phrase">[];
}

/** Selects every phrase that an upsert of the drafts may change or conflict with. */
export function wantedOf(drafts: readonly PhraseDraft[]): Wanted {
  return { ids: drafts.flatMap(({ id }) => id ?? []), keys: drafts };
}

/**
 * Applies the writes in order, each only under the condition of `PhraseWrite`. Returns false when a
 * concurrent write prevented one of them; others may have been applied. Then read the phrases and
 * plan again.
 */
export type Write = (writes: readonly PhraseWrite[]) => Promise<boolean>;

export interface Dictionary {
  find(tenantId: string, wanted: Wanted): Promise<Phrase[]>;
  /**
   * Reads a page of the current dictionary. A search stops after 20,000 phrases, so its page may be
   * shorter than the limit although there is a next page.
   */
  page(tenantId: string, query: PageQuery): Promise<PhrasePage>;
  /** Ids of at most `max` phrases of a language, in no order. */
  idsOf(tenantId: string, language: string, max: number): Promise<string[]>;
  countOf(tenantId: string, language: string): Promise<number>;
  /** Returns how many phrases existed and were deleted. After a failure some may be deleted. */
  deleteAll(tenantId: string, ids: readonly string[], signal: AbortSignal): Promise<number>;
  /**
   * Runs `work`, which may write. From the first write until `work` ends the dictionary has no
   * revision, and afterwards a new one. Without a write it keeps its revision.
   */
  change<T>(tenantId: string, work: (write: Write) => Promise<T>): Promise<T>;
  /**
   * Opens a snapshot of the dictionary, or of one language of it. Later writes do not change what
   * is read from it.
   */
  snapshot(tenantId: string, language: string | undefined, signal: AbortSignal): Promise<DictionarySnapshot>;
  /** Undefined during a change, "0" before the first one. */
  revision(tenantId: string): Promise<string | undefined>;
}

export interface DictionarySnapshot extends AsyncDisposable {
  /** As `Dictionary.revision`, at the moment of the snapshot. */
  readonly revision: string | undefined;
  /**
   * The phrases in batches, ordered by language and text. A batch is fetched when it is asked for,
   * and may be iterated once. Throws when mongod no longer keeps the history of that moment, by
   * default after five minutes.
   */
  readonly batches: AsyncIterator<Iterable<Phrase>>;
}
