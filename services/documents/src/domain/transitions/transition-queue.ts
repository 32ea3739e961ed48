import { DomainError } from "@vidimus/kit/errors";
import { setTimeout as pause } from "node:timers/promises";
import type { DocumentTransition, Transitioned } from "./attempt.ts";
import type { TransitionOutcome } from "./transition-documents.ts";
import { TransactionConflict } from "./transition-transaction.ts";

/** How transitions are collected and run. */
export interface TransitionQueueOptions {
  /**
   * Runs transitions of one tenant in one transaction, each document once; undefined for those that
   * did not fit. `open-publication.ts` passes `transitionDocuments`, in a transaction of
   * `store/transition-store.ts`.
   */
  runBatch(tenantId: string, requests: readonly DocumentTransition[]): Promise<TransitionOutcome[]>;
  /** Most transitions in one transaction; default 64. */
  itemsMax?: number;
  /** How long a transition is repeated after conflicts before it is refused; default 10 s. */
  patienceMs?: number;
  /** How long a transaction waits for callers that were just answered; default 20 ms. */
  lingerMs?: number;
}

/**
 * Transitions in one transaction from which on the next transaction waits up to `lingerMs`, so that
 * the callers that were just answered can be part of it.
 */
const busyFrom = 8;

/** Takes one document through a transition; rejects with a `DomainError` when it is refused. */
export type TransitionDocument = (
  tenantId: string,
  request: DocumentTransition,
  signal?: AbortSignal,
) => Promise<Transitioned>;

interface Waiting {
  readonly request: DocumentTransition;
  readonly signal: AbortSignal | undefined;
  readonly since: number;
  /** Set once a transaction was full before it. */
  isLeftOver: boolean;
  resolve(transitioned: Transitioned): void;
  reject(reason: unknown): void;
}

/**
 * Collects the transitions of each tenant while one of its transactions is in flight, and runs them
 * together in the next one. The first transition of an idle tenant starts at once; a busy tenant
 * has one commit for up to 64 transitions. One transaction of a tenant is in flight at a time,
 * since all of them lock the tenant's clock.
 */
export function createTransitionQueue(options: TransitionQueueOptions): TransitionDocument {
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
   * Most transitions in the next transaction: halved by a failure that one document may have
   * caused, doubled by a commit.
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
    // Microtasks run after all calls that one turn of the event loop brought in.
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
   * Waits up to `lingerMs` for the callers that were just answered. Under load they come back at
   * once, and a transaction of twice as many takes hardly longer. Without the wait the callers
   * would split into two halves that alternate. It does not wait after a small transaction, nor
   * when the queue is empty.
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
   * The oldest entries, each document once, without those whose caller has cancelled. Entries that
   * did not fit into the last transaction come first: a transaction fills up in the order of ids,
   * so new entries with smaller ids could keep them out without end.
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

  /** @returns how many callers were answered; 0 when the transaction was full or failed */
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

  /** @returns how many did not fit into the transaction */
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
    // 1 to 5 ms: the other transaction ends in milliseconds, while the driver's own back-off grows
    // to seconds.
    await pause(1 + Math.random() * 4);
  }

  /**
   * After an unexpected failure the batch is repeated in halves, until the one transition that
   * causes it fails alone.
   */
  #fail(batch: readonly Waiting[], error: unknown): void {
    if (batch.length === 1 || error instanceof DomainError) for (const entry of batch) entry.reject(error);
    else this.#waiting.unshift(...batch);
  }
}
