import { DomainError } from "@vidimus/kit/errors";
import { setTimeout as pause } from "node:timers/promises";
import type { Move, Moved, Outcome } from "./move-documents.ts";
import { TransactionConflict } from "./transition-transaction.ts";

/** How transitions are collected and run. */
export interface TransitionQueueOptions {
  /** Moves documents of one tenant in one transaction, each at most once; undefined for what it had no room for. */
  transact(tenantId: string, moves: readonly Move[]): Promise<Outcome[]>;
  /** Most moves in one transaction; 64 unless said. */
  itemsMax?: number;
  /** How long a move may lose against others before its caller is told; 10 s unless said. */
  patienceMs?: number;
  /** How long those who wait may be kept for callers who have just been answered; 20 ms unless said. */
  lingerMs?: number;
}

/** A transaction of so many has callers who come again. */
const busyFrom = 8;

/** Moves one document; rejects with a `DomainError` when it may not be moved. */
export type MoveDocument = (tenantId: string, move: Move, signal?: AbortSignal) => Promise<Moved>;

interface Waiting {
  readonly move: Move;
  readonly signal: AbortSignal | undefined;
  readonly since: number;
  resolve(moved: Moved): void;
  reject(reason: unknown): void;
}

/**
 * Collects the transitions of each tenant while one of its transactions is in flight, and runs them together in the
 * next: an idle tenant waits for nobody, a busy one pays for one commit instead of sixty-four. One transaction of a
 * tenant is in flight at a time, since all of them need the tenant's clock.
 */
export function createTransitionQueue(options: TransitionQueueOptions): MoveDocument {
  const tenants = new Map<string, TenantQueue>();
  return (tenantId, move, signal) =>
    new Promise((resolve, reject) => {
      const queue = tenants.get(tenantId) ?? new TenantQueue(tenantId, options, () => tenants.delete(tenantId));
      tenants.set(tenantId, queue);
      queue.add({ move, signal, since: Date.now(), resolve, reject });
    });
}

class TenantQueue {
  readonly #tenantId: string;
  readonly #options: TransitionQueueOptions;
  readonly #itemsMax: number;
  readonly #onIdle: () => void;
  #waiting: Waiting[] = [];
  #running = false;
  #gathering: { readonly count: number; done(): void } | undefined;
  /** Halved by every fault that a single document may have caused, doubled by every commit. */
  #size: number;

  constructor(tenantId: string, options: TransitionQueueOptions, onIdle: () => void) {
    this.#tenantId = tenantId;
    this.#options = options;
    this.#itemsMax = options.itemsMax ?? 64;
    this.#size = this.#itemsMax;
    this.#onIdle = onIdle;
  }

  add(entry: Waiting): void {
    this.#waiting.push(entry);
    if (this.#gathering && this.#waiting.length >= this.#gathering.count) this.#gathering.done();
    if (this.#running) return;
    this.#running = true;
    // One turn of the microtask queue gathers what one tick of the event loop brought in.
    queueMicrotask(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      if (batch.length > 0) await this.#gather(await this.#run(batch));
    }
    this.#running = false;
    this.#onIdle();
  }

  /**
   * Under load the callers who have just been answered are about to come again, and twice as many cost a transaction
   * hardly more: so those who wait already are kept a moment for them. Else the callers fall into two halves that take
   * turns. A queue in which nobody waits, or few did, waits for nobody.
   */
  async #gather(answered: number): Promise<void> {
    const count = Math.min(this.#size, answered + this.#waiting.length);
    if (answered < busyFrom || this.#waiting.length === 0 || this.#waiting.length >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#options.lingerMs ?? 20);
    this.#gathering = { count, done: resolve };
    await promise;
    clearTimeout(timer);
    this.#gathering = undefined;
  }

  /** The oldest entries, each document once; callers who have gone are not served. */
  #take(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const rest: Waiting[] = [];
    for (const entry of this.#waiting) {
      if (entry.signal?.aborted) entry.reject(entry.signal.reason);
      else if (batch.size < this.#size && !batch.has(entry.move.documentId)) batch.set(entry.move.documentId, entry);
      else rest.push(entry);
    }
    this.#waiting = rest;
    return [...batch.values()];
  }

  /** Answers how many callers were answered; 0 when the transaction was full or failed, and others are due first. */
  async #run(batch: Waiting[]): Promise<number> {
    try {
      const outcomes = await this.#options.transact(
        this.#tenantId,
        batch.map(({ move }) => move),
      );
      this.#size = Math.min(this.#itemsMax, this.#size * 2);
      return this.#settle(batch, outcomes) === 0 ? batch.length : 0;
    } catch (error) {
      const atClock = error instanceof TransactionConflict && error.atClock;
      if (!atClock) this.#size = Math.max(1, Math.ceil(batch.length / 2));
      if (error instanceof TransactionConflict) await this.#conflict(batch, error);
      else this.#fail(batch, error);
      return 0;
    }
  }

  /** Answers how many the transaction had no room for. */
  #settle(batch: readonly Waiting[], outcomes: readonly Outcome[]): number {
    const leftOut: Waiting[] = [];
    for (const [index, entry] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) leftOut.push(entry);
      else if (outcome instanceof DomainError) entry.reject(outcome);
      else entry.resolve(outcome);
    }
    this.#waiting.unshift(...leftOut);
    return leftOut.length;
  }

  async #conflict(batch: readonly Waiting[], cause: TransactionConflict): Promise<void> {
    const patientSince = Date.now() - (this.#options.patienceMs ?? 10_000);
    const busy = new DomainError("unavailable", "too many transitions at once; try again", { cause });
    for (const entry of batch) if (entry.since < patientSince) entry.reject(busy);
    this.#waiting.unshift(...batch.filter(({ since }) => since >= patientSince));
    // The driver's own back-off grows to seconds; the other transaction is done in milliseconds.
    await pause(1 + Math.random() * 4);
  }

  /** An unexpected fault is pinned on the one move that causes it. */
  #fail(batch: readonly Waiting[], error: unknown): void {
    if (batch.length === 1 || error instanceof DomainError) for (const entry of batch) entry.reject(error);
    else this.#waiting.unshift(...batch);
  }
}
