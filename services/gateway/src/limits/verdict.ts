/** A limit's decision on one request. */
export interface Verdict {
  readonly allowed: boolean;
  /** How many more requests pass before the window ends. */
  readonly remaining: number;
  /** Milliseconds until the window ends and counting starts again at zero. */
  readonly resetMs: number;
  /**
   * When the window ends that was charged, by the database's clock; it names the window. Absent when
   * nothing was charged.
   */
  readonly endsAt?: Date;
}
