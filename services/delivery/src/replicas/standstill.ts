/**
 * Notices whether the front of a queue moves. A replica takes over another one's queue when the
 * queue is overdue and its front stands still: a long queue is overdue even while its replica works
 * on it, and two replicas at one endpoint would exceed the endpoint's limits.
 */
export class Standstill {
  readonly #ms: number;
  readonly #fronts = new Map<string, { readonly front: string; readonly sinceMs: number; seenMs: number }>();

  /** @param ms for how long a front must stand still */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /**
   * @returns the time from which the queue counts as standing still if its front does not change
   */
  note(queue: string, front: string, nowMs: number): number {
    const known = this.#fronts.get(queue);
    const sinceMs = known?.front === front ? known.sinceMs : nowMs;
    this.#fronts.set(queue, { front, sinceMs, seenMs: nowMs });
    return sinceMs + this.#ms;
  }

  /** Forgets queues that were not noted since a time. */
  forgetBefore(ms: number): void {
    for (const [queue, { seenMs }] of this.#fronts) if (seenMs < ms) this.#fronts.delete(queue);
  }
}
