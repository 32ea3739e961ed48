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

  /** Sleeps until the alarm rings or the signal aborts, at most for `ms`. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    const ring = () => this.ring();
    const late = setTimeout(ring, ms);
    if (signal.aborted) ring();
    signal.addEventListener("abort", ring, { once: true });
    await this.#rung.promise;
    signal.removeEventListener("abort", ring);
    clearTimeout(late);
    clearTimeout(this.#timer);
    this.#at = Number.POSITIVE_INFINITY;
    this.#rung = Promise.withResolvers<void>();
  }
}
