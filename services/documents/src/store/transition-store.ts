import { uuidv7 } from "@vidimus/kit/ids";
import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { Db, MongoClient } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import type { ClockReading } from "../domain/published-reads/tenant-clock.ts";
import { TransactionConflict, type TransitionTransaction } from "../domain/transitions/transition-transaction.ts";
import { AbandonedTransactions } from "./abandoned-transactions.ts";
import { momentOf } from "./causal-session.ts";
import { toReading } from "./clock-store.ts";
import { commit, isConflict, transactionOptions } from "./run-transaction.ts";
import { SessionTransaction, type TransitionCollections } from "./session-transaction.ts";

/**
 * Pause after a commit while another process waits for the clock: longer than the 1 to 5 ms between
 * the attempts of that process.
 */
const giveWayMs = 6;

type OnTick = (tenantId: string, reading: ClockReading) => void;

export class TransitionStore {
  static readonly indexes = {
    clocks: { tenant: { key: { tenantId: 1 }, unique: true } },
    slugs: { slug: { key: { tenantId: 1, type: 1, slug: 1 }, unique: true } },
  } as const satisfies DatabaseIndexes;
  readonly #client: MongoClient;
  readonly #collections: TransitionCollections;
  readonly #abandoned: AbandonedTransactions;
  readonly #holder = uuidv7();
  readonly #turns = new Map<string, Promise<void>>();
  readonly #onTick: OnTick;

  /** @param onTick called with the tenant's clock after each commit that ticked it */
  constructor(client: MongoClient, db: Db, onTick: OnTick = () => {}) {
    this.#client = client;
    this.#onTick = onTick;
    this.#abandoned = new AbandonedTransactions(client);
    this.#collections = {
      clocks: db.collection("clocks"),
      heads: db.collection("heads"),
      versions: db.collection("versions"),
      history: db.collection("history"),
      publications: db.collection("publications"),
      snapshots: db.collection("snapshots"),
      slugs: db.collection("slugs"),
    };
  }

  /**
   * Runs `work` in one transaction, and commits it if it wrote anything. When a unique index
   * refused a row, for example because of its slug or request token, `work` runs once more, and
   * then also reads who holds the slugs and which requests were answered before. The first attempt
   * reads no slugs, and only those requests that it refuses, because most slugs are free and most
   * requests new.
   *
   * While another process runs transitions of the same tenant, the two alternate: after a commit a
   * process waits `giveWayMs`, because otherwise it could lock the clock again and again while the
   * other one's callers wait.
   *
   * @throws TransactionConflict when the transaction conflicted with another one; nothing was
   * changed then
   */
  async runTransition<T>(tenantId: string, work: (transaction: TransitionTransaction) => Promise<T>): Promise<T> {
    await this.#turns.get(tenantId);
    try {
      return await this.#attempt(tenantId, work, false).catch((error: unknown) => {
        if (!(error instanceof TransactionConflict && isDuplicateKey(error.cause))) throw error;
        return this.#attempt(tenantId, work, true);
      });
    } catch (error) {
      if (error instanceof TransactionConflict) await this.#abandoned.end();
      throw error;
    }
  }

  async #attempt<T>(
    tenantId: string,
    work: (transaction: TransitionTransaction) => Promise<T>,
    followsDuplicate: boolean,
  ): Promise<T> {
    const session = this.#client.startSession();
    const about = { tenantId, holder: this.#holder, followsDuplicate };
    const transaction = new SessionTransaction(this.#collections, session, about);
    try {
      session.startTransaction(transactionOptions);
      const result = await work(transaction);
      if (transaction.wrote) await commit(session);
      else await session.abortTransaction();
      if (transaction.wrote && transaction.clock) {
        this.#onTick(tenantId, toReading(transaction.clock, momentOf(session)));
      }
      if (transaction.hasRival) this.#giveWay(tenantId);
      return result;
    } catch (error) {
      throw isConflict(error) ? new TransactionConflict(error, !transaction.wrote) : error;
    } finally {
      await session.endSession();
    }
  }

  #giveWay(tenantId: string): void {
    const turn = pause(giveWayMs).finally(() => this.#turns.delete(tenantId));
    this.#turns.set(tenantId, turn);
  }
}
