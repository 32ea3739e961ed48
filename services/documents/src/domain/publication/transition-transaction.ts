import type { Head } from "../document/document.ts";
import type { Changes, Slug, StoredVersion } from "./publication.ts";

/** What a transition may ask and tell the database, all of it inside one transaction. */
export interface TransitionTransaction {
  /**
   * Takes the next tick of the tenant's clock: now, or one millisecond after the last one if that is later; stamps it on
   * the types whose readers it touches. Ticks are committed in their order: one is refused when another was committed
   * since this transaction's first read.
   */
  tick(types: ReadonlySet<string>): Promise<Date>;
  /** Heads in any order, as many as fit into `bytesMax` (one at least); `complete` when none was left out. */
  readHeads(documentIds: readonly string[], bytesMax: number): Promise<{ heads: Head[]; complete: boolean }>;
  readVersions(references: readonly { documentId: string; version: number }[]): Promise<StoredVersion[]>;
  /** The named slugs, and those that these documents hold now. */
  readSlugs(named: readonly { type: string; slug: string }[], holders: readonly string[]): Promise<Slug[]>;
  /** Writes everything at the end. A transaction that never writes is rolled back, tick and all. */
  write(changes: Changes): Promise<void>;
}

/** The transaction met another one and changed nothing; the same work may be tried again. */
export class TransactionConflict extends Error {
  override readonly name = "TransactionConflict";
  /** Whether it was refused at the clock already, before anything but heads was read: then no single document is to blame. */
  readonly atClock: boolean;

  constructor(cause: unknown, atClock: boolean) {
    super("met another transaction", { cause });
    this.atClock = atClock;
  }
}
