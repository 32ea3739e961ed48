import { DomainError } from "@vidimus/kit/errors";
import { Holdings } from "@vidimus/kit/queues/holdings";
import { TurnQueue } from "@vidimus/kit/queues/turn-queue";

/**
 * Exports that run at once. Each holds a cursor and up to 1 MiB for as long as its reader takes,
 * which may be ten minutes.
 */
const runningMax = 64;
/**
 * One tenant's share. Eight exports keep a process busy that exports as fast as it can; 64 held up
 * every other call for 15 s.
 */
const tenantRunningMax = 8;
/** Exports of usual dictionaries end within this time, so that short bursts are not refused. */
const waitMsMax = 1_000;

/**
 * Lets a few exports of each tenant run at once. The others wait for up to a second, and tenants
 * take turns.
 */
export class ExportSlots {
  readonly #running = new Holdings();
  readonly #waiting = new TurnQueue<() => void>();

  /**
   * Takes a slot, which is given back on disposal. Rejects with the signal's reason when the signal
   * aborts before.
   *
   * @throws DomainError `exhausted` when none got free in time and the tenant has its share of 8,
   * `unavailable` when none did and all 64 are taken
   */
  async take(tenantId: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#hasRoom(tenantId)) this.#running.add(tenantId, 1);
    else await this.#turn(tenantId, signal);
    return {
      [Symbol.dispose]: () => {
        this.#running.add(tenantId, -1);
        this.#startNext();
      },
    };
  }

  #turn(tenantId: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (reason: unknown) => {
      this.#waiting.remove(tenantId, resolve);
      reject(reason);
    };
    const cancel = () => leave(signal.reason);
    const timer = setTimeout(() => leave(this.#refusal(tenantId)), waitMsMax);
    signal.addEventListener("abort", cancel, { once: true });
    this.#waiting.push(tenantId, resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    });
  }

  #startNext(): void {
    const tenantId = this.#waiting.keys().find((waiting) => this.#hasRoom(waiting));
    if (tenantId === undefined) return;
    const [start] = this.#waiting.take(tenantId);
    this.#running.add(tenantId, 1);
    start?.();
  }

  #hasRoom(tenantId: string): boolean {
    return this.#running.total < runningMax && this.#running.of(tenantId) < tenantRunningMax;
  }

  #refusal(tenantId: string): DomainError {
    if (this.#running.of(tenantId) < tenantRunningMax) {
      return new DomainError("unavailable", "Too many exports run at once; retry in 1 s");
    }
    const share = `The tenant's share of the exports at once, ${tenantRunningMax} exports, is in use; retry in 1 s`;
    return new DomainError("exhausted", share);
  }
}
