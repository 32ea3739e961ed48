import { Holdings } from "@vidimus/kit/queues/holdings";
import { TurnQueue } from "@vidimus/kit/queues/turn-queue";

/** Steps at once: while one fetches rows, another one writes the text of its rows. */
const runningMax = 2;
/** One tenant's share, so that the step of another one does not wait for the end of a step. */
const tenantRunningMax = 1;

/** A step that waited for its cursor took longer than the loop was busy with it. */
const stepMsCounted = 20;
/** The longest rest, in times of the step before it. */
const restFactorMax = 4;

/**
 * Runs the steps of exports, each of a few milliseconds: two at a time, of two tenants. Tenants take
 * turns in what waits.
 *
 * A tenant with more than two exports rests after each step, up to four times as long as the step
 * took. So a crowd of exports leaves four fifths of the time to other calls, which need several turns
 * of the event loop each, and one or two exports run without a rest. Other tenants' exports do not
 * wait for the rest.
 */
export class ExportTurns {
  readonly #waiting = new TurnQueue<() => void>();
  /** Steps that run, and rests. */
  readonly #busy = new Holdings();
  #running = 0;

  /**
   * Runs a step when its turn comes. Rejects with the signal's reason when it aborts before.
   */
  async run<T>(tenantId: string, signal: AbortSignal, step: () => Promise<T>): Promise<T> {
    if (this.#mayRun(tenantId)) this.#begin(tenantId);
    else await this.#turn(tenantId, signal);
    const started = performance.now();
    try {
      return await step();
    } finally {
      this.#end(tenantId, performance.now() - started);
    }
  }

  #mayRun(tenantId: string): boolean {
    return this.#running < runningMax && this.#busy.of(tenantId) < tenantRunningMax;
  }

  #begin(tenantId: string): void {
    this.#running += 1;
    this.#busy.add(tenantId, 1);
  }

  #end(tenantId: string, stepMs: number): void {
    this.#running -= 1;
    const restMs = Math.min(stepMs, stepMsCounted) * this.#restFactor(tenantId);
    if (restMs === 0) this.#busy.add(tenantId, -1);
    else setTimeout(() => this.#rested(tenantId), restMs);
    this.#startNext();
  }

  /** Two exports of a tenant alternate: at the end of a step one of them waits. */
  #restFactor(tenantId: string): number {
    return Math.max(0, Math.min(this.#waiting.countOf(tenantId) - 1, restFactorMax));
  }

  #rested(tenantId: string): void {
    this.#busy.add(tenantId, -1);
    this.#startNext();
  }

  #turn(tenantId: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = () => {
      this.#waiting.remove(tenantId, resolve);
      reject(signal.reason);
    };
    signal.addEventListener("abort", cancel, { once: true });
    this.#waiting.push(tenantId, resolve);
    return promise.finally(() => signal.removeEventListener("abort", cancel));
  }

  #startNext(): void {
    for (const tenantId of this.#waiting.keys()) {
      if (!this.#mayRun(tenantId)) continue;
      const [start] = this.#waiting.take(tenantId);
      this.#begin(tenantId);
      start?.();
    }
  }
}
