import { uuidv7 } from "@vidimus/kit/ids";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { Db, MongoClient } from "mongodb";
import { setTimeout as pause } from "node:timers/promises";
import type { ClockReading } from "../domain/published-reads/tenant-clock.ts";
import { TransactionConflict, type TransitionTransaction } from "../domain/transitions/transition-transaction.ts";
import { AbandonedTransactions } from "./abandoned-transactions.ts";
import { momentOf } from "./causal-session.ts";
import { toReading } from "./clock-store.ts";
import { commit, isConflict, transactionOptions } from "./run-transaction.ts";
import type { Rollout } from "./rollout.ts";
import { SessionTransaction, type TransactionMode, type TransitionCollections } from "./session-transaction.ts";

/**
 * Pause after a commit while another process wants the clock: longer than the 1 to 5 ms between
 * that one's attempts.
 */
const giveWayMs = 6;

type OnTick = (tenantId: string, reading: ClockReading) => void;

/**
 * Keeps what transitions write: heads, history, publications, snapshots, slugs, and the tenants'
 * clocks.
 */
export class TransitionStore {
  readonly #client: MongoClient;
  readonly #collections: TransitionCollections;
  readonly #abandoned: AbandonedTransactions;
  readonly #holder = uuidv7();
  readonly #turns = new Map<string, Promise<void>>();
  readonly #rollout: Pick<Rollout, "hasVersion2">;
  readonly #onTick: OnTick;

  /** @param onTick is told the tenant's clock after each commit that moved it */
  constructor(client: MongoClient, db: Db, rollout: Pick<Rollout, "hasVersion2">, onTick: OnTick = () => {}) {
    this.#client = client;
    this.#rollout = rollout;
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

  /** Makes the indexes that transitions rely on. Idempotent. */
  async ensureIndexes(): Promise<void> {
    const { clocks, slugs } = this.#collections;
    await clocks.createIndex({ tenantId: 1 }, { unique: true });
    await slugs.createIndex({ tenantId: 1, type: 1, slug: 1 }, { unique: true });
  }

  /**
   * Runs `work` in one transaction, and commits it if it wrote anything. When an index refused a
   * slug or the token of a request, `work` runs once more, and is shown who holds the slugs that it
   * asks for, and which requests were answered before: most slugs are free and most requests new,
   * and not to look saves a statement.
   *
   * While another process runs transitions of the same tenant, the two alternate: after a commit a
   * process waits 6 ms, since otherwise it could lock the clock again and again while the other
   * one's callers wait.
   *
   * @throws TransactionConflict when it conflicted with another transaction; nothing was changed
   *   then
   */
  async runTransition<T>(tenantId: string, work: (transaction: TransitionTransaction) => Promise<T>): Promise<T> {
    await this.#turns.get(tenantId);
    const asVersion2 = await this.#rollout.hasVersion2();
    try {
      return await this.#attempt(tenantId, work, { asVersion2, followsDuplicate: false }).catch((error: unknown) => {
        if (!(error instanceof TransactionConflict && isDuplicateKey(error.cause))) throw error;
        return this.#attempt(tenantId, work, { asVersion2, followsDuplicate: true });
      });
    } catch (error) {
      if (error instanceof TransactionConflict) await this.#abandoned.end();
      throw error;
    }
  }

  async #attempt<T>(
    tenantId: string,
    work: (transaction: TransitionTransaction) => Promise<T>,
    mode: TransactionMode,
  ): Promise<T> {
    const session = this.#client.startSession();
    const about = { tenantId, holder: this.#holder, mode };
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
