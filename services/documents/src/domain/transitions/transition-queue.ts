import { DomainError } from "@vidimus/kit/errors";
import { setTimeout as pause } from "node:timers/promises";
import type { TransitionRequest, TransitionResult } from "./attempt.ts";
import type { TransitionOutcome } from "./attempt.ts";
import { TransactionConflict } from "./transition-transaction.ts";

export interface TransitionQueueOptions {
  /**
   * Runs transitions of one tenant in one transaction, each document once; the outcome is undefined
   * for those that are left to the next transaction, for example because they did not fit.
   * `open-publishing.ts` passes `transitionBatch`, in a transaction of
   * `store/transition-store.ts`.
   */
  runBatch(tenantId: string, requests: readonly TransitionRequest[]): Promise<TransitionOutcome[]>;
  /** Most transitions in one transaction; default 64. */
  itemsMax?: number;
  /**
   * Milliseconds for which a transition is repeated after conflicts before it is refused; default
   * 10 s.
   */
  patienceMs?: number;
  /** Most milliseconds that a transaction waits for callers just answered; default 20 ms. */
  lingerMs?: number;
}

/** Least number of answered callers for which the next transaction waits: see `#gather`. */
const busyFrom = 8;

/** Takes one document through a transition. Rejects with a `DomainError` when it is refused. */
export type RunTransition = (
  tenantId: string,
  request: TransitionRequest,
  signal?: AbortSignal,
) => Promise<TransitionResult>;

interface Waiting {
  readonly request: TransitionRequest;
  readonly signal: AbortSignal | undefined;
  readonly since: number;
  /** Set when an earlier transaction left the transition to the next one. */
  isLeftOver: boolean;
  resolve(transitioned: TransitionResult): void;
  reject(reason: unknown): void;
}

/**
 * Collects the transitions of each tenant while one of its transactions runs, and runs them
 * together in the next one. The first transition of an idle tenant starts at once; a busy tenant
 * has one commit for up to 64 transitions. A process runs one transaction of a tenant at a time:
 * transactions that change what readers see lock the tenant's clock, so a second one would
 * conflict.
 */
export function createTransitionQueue(options: TransitionQueueOptions): RunTransition {
  const tenants = new Map<string, TenantQueue>();
  return (tenantId, request, signal) =>
    new Promise((resolve, reject) => {
      const queue = tenants.get(tenantId) ?? new TenantQueue(tenantId, options, () => tenants.delete(tenantId));
      tenants.set(tenantId, queue);
      queue.add({ request, signal, since: Date.now(), isLeftOver: false, resolve, reject });
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
  /**
   * Most transitions in the next transaction: doubled after a success, after a failure half of the
   * failed batch. A conflict before the writes does not change it, because no single document
   * causes that.
   */
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
    // The microtask lets transitions that are added together share the first transaction.
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
   * Waits up to `lingerMs` for the callers that were just answered. Under load they send the next
   * transition at once, and a transaction of twice the size takes hardly longer. Without the wait
   * the callers would split into two halves that alternate.
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

  /**
   * The oldest entries, each document once, without cancelled ones. While there are entries that an
   * earlier transaction left over, only these: a transaction fills up in the order of ids, so new
   * entries with smaller ids could keep them out forever.
   */
  #take(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const rest: Waiting[] = [];
    const leftOver = this.#waiting.some(({ isLeftOver }) => isLeftOver);
    const isDue = ({ request, isLeftOver }: Waiting) =>
      batch.size < this.#size && !batch.has(request.documentId) && (isLeftOver || !leftOver);
    for (const entry of this.#waiting) {
      if (entry.signal?.aborted) entry.reject(entry.signal.reason);
      else if (isDue(entry)) batch.set(entry.request.documentId, entry);
      else rest.push(entry);
    }
    this.#waiting = rest;
    return [...batch.values()];
  }

  /**
   * @returns the number of answered callers; 0 when the transaction failed, or left transitions to
   * the next one
   */
  async #run(batch: Waiting[]): Promise<number> {
    try {
      const outcomes = await this.#options.runBatch(
        this.#tenantId,
        batch.map(({ request }) => request),
      );
      this.#size = Math.min(this.#itemsMax, this.#size * 2);
      return this.#settle(batch, outcomes) === 0 ? batch.length : 0;
    } catch (error) {
      const isClockConflict = error instanceof TransactionConflict && error.beforeWriting;
      if (!isClockConflict) this.#size = Math.max(1, Math.ceil(batch.length / 2));
      if (error instanceof TransactionConflict) await this.#conflict(batch, error);
      else this.#fail(batch, error);
      return 0;
    }
  }

  /** @returns the number of transitions that are left to the next transaction */
  #settle(batch: readonly Waiting[], outcomes: readonly TransitionOutcome[]): number {
    const leftOut: Waiting[] = [];
    for (const [index, entry] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) leftOut.push(Object.assign(entry, { isLeftOver: true }));
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
    // 1 to 5 ms, because the other transaction ends in milliseconds, while the driver's own
    // back-off grows to half a second.
    await pause(1 + Math.random() * 4);
  }

  /**
   * A `DomainError` rejects the batch. After an unexpected failure it is repeated in halves, until
   * the transition that causes the failure fails alone.
   */
  #fail(batch: readonly Waiting[], error: unknown): void {
    if (batch.length === 1 || error instanceof DomainError) for (const entry of batch) entry.reject(error);
    else this.#waiting.unshift(...batch);
  }
}
