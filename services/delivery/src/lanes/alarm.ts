import { setTimeout as pause } from "node:timers/promises";

/** An alarm clock for one sleeper. It rings at the earliest requested time. */
export class Alarm {
  #rung = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;

  /** Ends the current sleep. When nobody sleeps, the next sleep ends at once. */
  ring(): void {
    this.#rung.resolve();
  }

  /** @param at in milliseconds since 1970; forgotten when a sleep ends */
  ringAt(at: number): void {
    if (at >= this.#at) return;
    this.#at = at;
    clearTimeout(this.#timer);
    const ms = Math.min(Math.max(0, at - Date.now()), 2 ** 31 - 1);
    this.#timer = setTimeout(() => this.ring(), ms);
  }

  /**
   * Sleeps until the alarm rings, at most for `ms`. Ends at once when the alarm has rung since the
   * last sleep.
   */
  async sleep(ms: number): Promise<void> {
    const late = new AbortController();
    const timer = pause(ms, undefined, { signal: late.signal }).catch(() => {});
    await Promise.race([this.#rung.promise, timer]);
    late.abort();
    clearTimeout(this.#timer);
    this.#at = Number.POSITIVE_INFINITY;
    this.#rung = Promise.withResolvers<void>();
  }
}
