import type { Phrase, PhraseDraft } from "./phrase.ts";
import type { PhraseWrite } from "./plan-upserts.ts";

/** Names phrases by their ids and by their keys. */
export interface Wanted {
  readonly ids: readonly string[];
  readonly keys: readonly Pick<PhraseDraft, "language" | "phrase">[];
}

/** Every phrase that upserting the drafts may have to do with. */
export function wantedOf(drafts: readonly PhraseDraft[]): Wanted {
  return { ids: drafts.flatMap(({ id }) => id ?? []), keys: drafts };
}

/**
 * Writes in order, each row only if it still is what it was taken for. False when one was not, because somebody else was
 * faster: what was to be written then has to be decided anew, on what stands now.
 */
export type Write = (writes: readonly PhraseWrite[]) => Promise<boolean>;

/** Where the phrases of tenants are kept. */
export interface Dictionary {
  find(tenantId: string, wanted: Wanted): Promise<Phrase[]>;
  /** Lets `work` write. From the first write until the end the dictionary has no revision, and then a new one. */
  change<T>(tenantId: string, work: (write: Write) => Promise<T>): Promise<T>;
  /** Batches, ordered by language and text; read once. The next one is fetched when it is asked for. */
  list(tenantId: string, language: string | undefined, signal: AbortSignal): AsyncIterable<Iterable<Phrase>>;
  /** The state of a tenant's dictionary, never the same again after a change; undefined while it is being changed. */
  revision(tenantId: string): Promise<string | undefined>;
}
