export interface Verdict {
  readonly allowed: boolean;
  /** How much more passes before the window ends: requests, failures or points. */
  readonly remaining: number;
  /** Milliseconds until the window ends and counting starts again at zero. */
  readonly resetMs: number;
  /**
   * End of the charged window by the database's clock; a refund names the window by it. Every write
   * that was charged has it; other limits, and writes that passed uncharged, have none.
   */
  readonly endsAt?: Date;
}
