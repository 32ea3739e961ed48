/** What a limit says to one request. */
export interface Verdict {
  readonly allowed: boolean;
  /** How many more would pass before the window ends. */
  readonly remaining: number;
  /** Milliseconds until the window ends and everything is there again. */
  readonly resetMs: number;
}
