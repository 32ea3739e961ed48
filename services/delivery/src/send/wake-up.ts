import { setTimeout as pause } from "node:timers/promises";

/** An alarm clock that rings early when somebody asks. */
export class WakeUp {
  #next = Promise.withResolvers<void>();

  /** Ends the waiting for every promise taken so far. */
  wake(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }

  /** Resolves with the next `wake`. Take it before looking for work, so that no call in between is missed. */
  next(): Promise<void> {
    return this.#next.promise;
  }

  /** Waits for a promise taken with `next`, but no longer than `ms`. */
  async within(woken: Promise<void>, ms: number): Promise<void> {
    const late = new AbortController();
    const timer = pause(ms, undefined, { signal: late.signal }).catch(() => {});
    await Promise.race([woken, timer]);
    late.abort();
  }
}
