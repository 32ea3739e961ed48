/** A limit's decision on one request. */
export interface Verdict {
  readonly allowed: boolean;
  /** How many more requests pass before the window ends. */
  readonly remaining: number;
  /** Milliseconds until the window ends and counting starts again at zero. */
  readonly resetMs: number;
  /**
   * End of the charged window by the database's clock, which identifies the window for a refund.
   * Every write that was charged has it; other limits, and writes that passed uncharged, have none.
   */
  readonly endsAt?: Date;
}
