import { TurnQueue } from "@vidimus/kit/queues/turn-queue";

/** Steps at once: while one fetches rows, another one writes the text of its rows. */
const runningMax = 2;

/** A step that waited for its cursor took longer than the loop was busy with it. */
const pauseMsMax = 20;

/**
 * Runs the steps of exports, each of a few milliseconds, two at a time; tenants take turns. So a
 * call waits for two steps per turn of the event loop, and not for one of each export.
 *
 * While others wait, a place stays empty after a step for as long as the step took: a crowd of
 * exports leaves half of the time to unary calls, which need several turns of the loop each. One or
 * two exports run without a pause.
 */
export class ExportTurns {
  readonly #waiting = new TurnQueue<() => void>();
  #running = 0;

  /**
   * Runs a step when its turn comes. Rejects with the signal's reason when it aborts before.
   */
  async run<T>(tenantId: string, signal: AbortSignal, step: () => Promise<T>): Promise<T> {
    if (this.#running < runningMax) this.#running += 1;
    else await this.#turn(tenantId, signal);
    const started = performance.now();
    try {
      return await step();
    } finally {
      this.#giveBack(performance.now() - started);
    }
  }

  #giveBack(stepMs: number): void {
    if (this.#waiting.isEmpty) this.#running -= 1;
    else setTimeout(() => this.#startNext(), Math.min(stepMs, pauseMsMax));
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

  /** Gives the place of a step that has ended to the next one. */
  #startNext(): void {
    const [tenantId] = this.#waiting.keys();
    const [start] = tenantId === undefined ? [] : this.#waiting.take(tenantId);
    if (start) start();
    else this.#running -= 1;
  }
}
