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

/** Where the phrases of tenants are kept. */
export interface Dictionary {
  find(tenantId: string, wanted: Wanted): Promise<Phrase[]>;
  /**
   * One change, all of it or nothing: reads what is wanted, lets `decide` say what to write, and writes it. `decide` may be
   * asked more than once; what it throws ends the change.
   */
  change<Plan extends { readonly writes: readonly PhraseWrite[] }>(
    tenantId: string,
    wanted: Wanted,
    decide: (standing: Phrase[]) => Plan,
  ): Promise<Plan>;
  /** Deletes a phrase; false when there is none with that id. */
  delete(tenantId: string, id: string): Promise<boolean>;
  /** Batches, ordered by language and text. The next one is read when it is asked for. */
  list(tenantId: string, language: string | undefined, signal: AbortSignal): AsyncIterable<Phrase[]>;
  /** The state of a tenant's dictionary; never the same again after a change. */
  revision(tenantId: string): Promise<string>;
}
