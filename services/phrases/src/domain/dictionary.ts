import type { Phrase, PhraseDraft } from "./phrase.ts";
import type { PageQuery, PhrasePage } from "./phrase-page.ts";
import type { PhraseWrite } from "./plan-upserts.ts";

/** Selects phrases by their ids and by their keys. */
export interface Wanted {
  readonly ids: readonly string[];
  readonly keys: readonly Pick<PhraseDraft, "language" | "phrase">[];
}

/** Selects every phrase that an upsert of the drafts may change or conflict with. */
export function wantedOf(drafts: readonly PhraseDraft[]): Wanted {
  return { ids: drafts.flatMap(({ id }) => id ?? []), keys: drafts };
}

/**
 * Writes in order, each row only if its id and key are still as planned. False when a concurrent
 * write changed one: read the phrases and plan again.
 */
export type Write = (writes: readonly PhraseWrite[]) => Promise<boolean>;

/** Keeps the tenants' phrases. */
export interface Dictionary {
  find(tenantId: string, wanted: Wanted): Promise<Phrase[]>;
  /**
   * Reads a page as the dictionary is now. A search examines 20,000 phrases: its page may have fewer
   * than the limit, and a next place.
   */
  page(tenantId: string, query: PageQuery): Promise<PhrasePage>;
  /** Ids of phrases of a language in no order, at most `max`. */
  idsOf(tenantId: string, language: string, max: number): Promise<string[]>;
  /** How many phrases a language has. */
  countOf(tenantId: string, language: string): Promise<number>;
  /** Deletes phrases by their ids, and answers how many there were. What a failure leaves stays. */
  deleteAll(tenantId: string, ids: readonly string[], signal: AbortSignal): Promise<number>;
  /**
   * Runs `work`, which may write. From its first write until its end the dictionary has no
   * revision, and then a new one.
   */
  change<T>(tenantId: string, work: (write: Write) => Promise<T>): Promise<T>;
  /**
   * Reads the dictionary, or one language of it, as it is now. Writes do not change what is read
   * from it afterwards.
   */
  snapshot(tenantId: string, language: string | undefined, signal: AbortSignal): Promise<DictionarySnapshot>;
  /**
   * The revision of a tenant's dictionary. Every change gives a new one; undefined during a change.
   */
  revision(tenantId: string): Promise<string | undefined>;
}

/** A dictionary at one moment. */
export interface DictionarySnapshot extends AsyncDisposable {
  /** As `Dictionary.revision`. */
  readonly revision: string | undefined;
  /**
   * Batches, ordered by language and text, each to be iterated once. The next is fetched when it is
   * asked for. Throws when the database has dropped the moment, after five minutes by default.
   */
  readonly batches: AsyncIterator<Iterable<Phrase>>;
}
