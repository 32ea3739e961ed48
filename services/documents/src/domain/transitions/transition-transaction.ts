import type { Head } from "../document/document.ts";
import type { SiteClaim } from "../sites/site-claims.ts";
import type { Changes, Slug, StoredVersion, TransitionEntry } from "./changes.ts";

/**
 * The reads and writes of transitions, all inside one transaction of
 * `store/session-transaction.ts`.
 */
export interface TransitionTransaction {
  /**
   * Whether a unique index refused a row of the attempt before this one, for example because of a
   * slug that another document has or a request token that was answered before.
   */
  readonly followsDuplicate: boolean;
  /**
   * Takes the next tick of the tenant's clock, now or one millisecond after the last tick if that
   * is later, and stamps it on the types whose readers may see a change. Ticks commit in order: a
   * tick conflicts with one that was not committed yet at this transaction's first read.
   */
  tick(types: ReadonlySet<string>): Promise<Date>;
  /**
   * Heads in any order, as many as fit into `bytesMax`, but at least one; `complete` when none was
   * left out.
   */
  readHeads(documentIds: readonly string[], bytesMax: number): Promise<{ heads: Head[]; complete: boolean }>;
  readVersions(references: readonly { documentId: string; version: number }[]): Promise<StoredVersion[]>;
  /**
   * Reads which of the slugs are held by published documents. Reads nothing unless
   * `followsDuplicate`: at the first attempt the unique index refuses a second holder.
   */
  readSlugs(slugs: readonly Pick<Slug, "type" | "slug">[]): Promise<Slug[]>;
  /** Published sites that have one of the wanted hosts, and the primary site if that is wanted. */
  readSites(wanted: readonly SiteClaim[]): Promise<SiteClaim[]>;
  /** The history entries that earlier requests with these tokens made, one a document at most. */
  readRequests(requests: readonly { documentId: string; requestToken: string }[]): Promise<TransitionEntry[]>;
  /**
   * Writes all changes; called once, at the end. Without this call the transaction, including its
   * tick, is rolled back.
   */
  write(changes: Changes): Promise<void>;
}

/** The transaction changed nothing and can be repeated; mostly it conflicted with another one. */
export class TransactionConflict extends Error {
  override readonly name = "TransactionConflict";
  /**
   * Whether the conflict came before `write` was called, as one at the clock does. No single
   * document caused it then, so a smaller batch would not avoid it.
   */
  readonly beforeWriting: boolean;

  constructor(cause: unknown, beforeWriting: boolean) {
    super("met another transaction", { cause });
    this.beforeWriting = beforeWriting;
  }
}
