import type { MongoClient, UUID } from "mongodb";

/**
 * Longest time that a transaction may be idle between its statements, in total. A living process
 * sends each within milliseconds.
 */
const idleMs = 2_000;

/** Least time between two searches of one process for abandoned transactions. */
const pauseMs = 500;

/** A session of this service's user, as `$currentOp` shows it. */
interface IdleSession {
  readonly lsid: { readonly id: UUID };
}

/**
 * Ends the transactions of processes that are gone. MongoDB does not notice when a client with an
 * open transaction was killed: the transaction's locks, for example on a tenant's clock, stay until
 * `transactionLifetimeLimitSeconds` have passed and the server has looked for expired transactions,
 * by default 60 to 90 s.
 *
 * The transaction of a process that is only slow is rolled back, too: its next statement fails with
 * a transient error, a running one with error 11601, and the process repeats the transaction.
 */
export class AbandonedTransactions {
  readonly #client: MongoClient;
  #notBefore = 0;

  constructor(client: MongoClient) {
    this.#client = client;
  }

  /**
   * Call this after a conflict. It never rejects: when it fails, the server's own limit ends the
   * abandoned transactions.
   */
  async end(): Promise<void> {
    if (Date.now() < this.#notBefore) return;
    this.#notBefore = Date.now() + pauseMs;
    const sessions = await this.#find().catch(() => []);
    if (sessions.length === 0) return;
    const killSessions = sessions.map(({ lsid }) => ({ id: lsid.id }));
    // A user may see and kill its own sessions without any privilege.
    await this.#admin.command({ killSessions }).catch(() => {});
  }

  async #find(): Promise<IdleSession[]> {
    const isAbandoned = {
      active: false,
      appName: this.#client.options.appName,
      "transaction.parameters.autocommit": false,
      "transaction.timeInactiveMicros": { $gt: idleMs * 1_000 },
    };
    const stages = [
      { $currentOp: { idleSessions: true } },
      { $match: isAbandoned },
      { $project: { _id: 0, "lsid.id": 1 } },
    ];
    return this.#admin.aggregate<IdleSession>(stages, { maxTimeMS: 1_000, readConcern: { level: "local" } }).toArray();
  }

  get #admin() {
    return this.#client.db("admin");
  }
}
