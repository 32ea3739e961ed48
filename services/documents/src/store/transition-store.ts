import type { ClientSession, Collection, Db, MongoClient } from "mongodb";
import { uuidv7 } from "@vidimus/kit/uuid";
import { setTimeout as pause } from "node:timers/promises";
import type { Changes } from "../domain/publication/publication.ts";
import { TransactionConflict, type TransitionTransaction } from "../domain/publication/transition-transaction.ts";
import { AbandonedTransactions } from "./abandoned-transactions.ts";
import { fromHeadRow } from "./head-row.ts";
import {
  fromSlugRow,
  fromVersionRow,
  toHistoryRow,
  toOutboxRow,
  toPublicationRow,
  toSnapshotRow,
} from "./publication-rows.ts";
import type {
  ClockRow,
  HeadRow,
  HistoryRow,
  OutboxRow,
  PublicationRow,
  SlugRow,
  SnapshotRow,
  VersionRow,
} from "./rows.ts";
import { readPage } from "./read-page.ts";
import { commit, isConflict, transactionOptions } from "./run-transaction.ts";

/** How long a tick of another process counts as a moment ago. */
const rivalryMs = 250;

/** How long a process holds back after a commit while another wants the clock: longer than that one's longest pause. */
const giveWayMs = 6;

/** Keeps what transitions write: heads, history, publications, snapshots, outbox, slugs, and the tenants' clocks. */
export class TransitionStore {
  readonly #client: MongoClient;
  readonly #collections: Collections;
  readonly #abandoned: AbandonedTransactions;
  readonly #holder = uuidv7();
  readonly #turns = new Map<string, Promise<void>>();

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#abandoned = new AbandonedTransactions(client);
    this.#collections = {
      clocks: db.collection("clocks"),
      heads: db.collection("heads"),
      versions: db.collection("versions"),
      history: db.collection("history"),
      publications: db.collection("publications"),
      snapshots: db.collection("snapshots"),
      outbox: db.collection("outbox"),
      slugs: db.collection("slugs"),
    };
  }

  /** Makes the indexes that transitions rely on. Idempotent. */
  async ensureIndexes(): Promise<void> {
    const { clocks, slugs } = this.#collections;
    await clocks.createIndex({ tenantId: 1 }, { unique: true });
    await slugs.createIndex({ tenantId: 1, type: 1, slug: 1 }, { unique: true });
    await slugs.createIndex({ tenantId: 1, documentId: 1 });
  }

  /**
   * Runs `work` in one transaction, and commits it if it wrote anything.
   *
   * While another process works for the same tenant the two take turns: one that has just committed holds back for a
   * few milliseconds, else it would win the clock again and again while the other one's callers wait.
   *
   * Rejects with `TransactionConflict` when it met another transaction; nothing was changed then.
   */
  async transact<T>(tenantId: string, work: (transaction: TransitionTransaction) => Promise<T>): Promise<T> {
    await this.#turns.get(tenantId);
    try {
      return await this.#attempt(tenantId, work);
    } catch (error) {
      if (error instanceof TransactionConflict) await this.#abandoned.end();
      throw error;
    }
  }

  async #attempt<T>(tenantId: string, work: (transaction: TransitionTransaction) => Promise<T>): Promise<T> {
    const session = this.#client.startSession();
    const transaction = new SessionTransaction(this.#collections, session, tenantId, this.#holder);
    try {
      session.startTransaction(transactionOptions);
      const result = await work(transaction);
      if (transaction.wrote) await commit(session);
      else await session.abortTransaction();
      if (transaction.hasRival) this.#giveWay(tenantId);
      return result;
    } catch (error) {
      throw isConflict(error) ? new TransactionConflict(error, !transaction.ticked) : error;
    } finally {
      await session.endSession();
    }
  }

  #giveWay(tenantId: string): void {
    const turn = pause(giveWayMs).finally(() => this.#turns.delete(tenantId));
    this.#turns.set(tenantId, turn);
  }
}

interface Collections {
  clocks: Collection<ClockRow>;
  heads: Collection<HeadRow>;
  versions: Collection<VersionRow>;
  history: Collection<HistoryRow>;
  publications: Collection<PublicationRow>;
  snapshots: Collection<SnapshotRow>;
  outbox: Collection<OutboxRow>;
  slugs: Collection<SlugRow>;
}

/** Statements of one transaction go one after the other: a session carries no more. */
class SessionTransaction implements TransitionTransaction {
  ticked = false;
  wrote = false;
  hasRival = false;
  readonly #collections: Collections;
  readonly #session: ClientSession;
  readonly #tenantId: string;
  readonly #holder: string;

  constructor(collections: Collections, session: ClientSession, tenantId: string, holder: string) {
    this.#collections = collections;
    this.#session = session;
    this.#tenantId = tenantId;
    this.#holder = holder;
  }

  async tick(): Promise<Date> {
    const isRecent = { $gt: ["$tick", { $subtract: ["$$NOW", rivalryMs] }] };
    const taken = {
      tick: { $max: ["$$NOW", { $add: ["$tick", 1] }] },
      holder: this.#holder,
      rival: { $cond: [isRecent, "$holder", null] },
    };
    const row = await this.#collections.clocks.findOneAndUpdate({ tenantId: this.#tenantId }, [{ $set: taken }], {
      upsert: true,
      returnDocument: "after",
      projection: { tick: 1, rival: 1 },
      session: this.#session,
    });
    if (!row) throw new TypeError("an upsert answered no row");
    this.ticked = true;
    this.hasRival = row.rival !== null && row.rival !== undefined && row.rival !== this.#holder;
    return row.tick;
  }

  async readHeads(documentIds: readonly string[], bytesMax: number) {
    const filter = { tenantId: this.#tenantId, documentId: { $in: [...documentIds] } };
    const cursor = this.#collections.heads.find(filter, { projection: { _id: 0 }, session: this.#session });
    const bytesOf = ({ content, links, meta, title }: HeadRow) =>
      content.length() + links.length() + meta.length() + title.length();
    const { rows, hasMore } = await readPage(cursor, { rowsMax: documentIds.length, bytesMax, bytesOf });
    return { heads: rows.map(fromHeadRow), complete: !hasMore };
  }

  async readVersions(references: readonly { documentId: string; version: number }[]) {
    const $or = references.map(({ documentId, version }) => ({ documentId, version }));
    const filter = { tenantId: this.#tenantId, $or };
    const rows = await this.#collections.versions.find(filter, { session: this.#session }).toArray();
    return rows.map(fromVersionRow);
  }

  async readSlugs(named: readonly { type: string; slug: string }[], documentIds: readonly string[]) {
    const held = { documentId: { $in: [...documentIds] }, current: true };
    const filter = { tenantId: this.#tenantId, $or: [...named.map(({ type, slug }) => ({ type, slug })), held] };
    const rows = await this.#collections.slugs.find(filter, { session: this.#session }).toArray();
    return rows.map(fromSlugRow);
  }

  async write(changes: Changes, tick: Date): Promise<void> {
    this.wrote = true;
    await this.#writeHeads(changes);
    const tenantId = this.#tenantId;
    const options = { session: this.#session };
    const { history, publications, snapshots } = changes;
    await this.#collections.history.insertMany(
      history.map((entry) => toHistoryRow(tenantId, entry)),
      options,
    );
    if (publications.length === 0) return;
    await this.#stamp(new Set(publications.map(({ type }) => type)), tick);
    await this.#collections.publications.bulkWrite(
      publications.map(({ documentId, ...rest }) => ({
        replaceOne: {
          filter: { tenantId, documentId },
          replacement: toPublicationRow(tenantId, { documentId, ...rest }),
          upsert: true,
        },
      })),
      options,
    );
    await this.#collections.snapshots.insertMany(
      snapshots.map((snapshot) => toSnapshotRow(tenantId, snapshot)),
      options,
    );
    await this.#collections.outbox.insertMany(
      snapshots.map((snapshot) => toOutboxRow(tenantId, snapshot)),
      options,
    );
    await this.#writeSlugs(changes);
  }

  async #writeHeads({ heads }: Changes): Promise<void> {
    const { matchedCount } = await this.#collections.heads.bulkWrite(
      heads.map(({ documentId, ...change }) => ({
        updateOne: { filter: { tenantId: this.#tenantId, documentId }, update: { $set: change } },
      })),
      { session: this.#session },
    );
    if (matchedCount !== heads.length) throw new TypeError("a head that was read is not there");
  }

  /** Type names are data, never paths. */
  async #stamp(types: ReadonlySet<string>, tick: Date): Promise<void> {
    const stages = [...types].map((type) => ({
      $set: { types: { $setField: { field: { $literal: type }, input: { $ifNull: ["$types", {}] }, value: tick } } },
    }));
    await this.#collections.clocks.updateOne({ tenantId: this.#tenantId }, stages, { session: this.#session });
  }

  async #writeSlugs({ slugs }: Changes): Promise<void> {
    if (slugs.length === 0) return;
    await this.#collections.slugs.bulkWrite(
      slugs.map(({ type, slug, documentId, current }) => ({
        updateOne: {
          filter: { tenantId: this.#tenantId, type, slug },
          update: { $set: { documentId, current } },
          upsert: true,
        },
      })),
      { session: this.#session },
    );
  }
}
