import { sleep } from "./sleep.ts";

interface UntilDoneOptions {
  readonly signal: AbortSignal;
  readonly retryMs: number;
  /** Called after each failure, except when the signal has ended the work. */
  onFailure(error: unknown): void;
}

/**
 * Repeats work until it succeeds.
 *
 * @returns the work's result; undefined when the signal aborted first
 */
export async function untilDone<T>(
  work: () => Promise<T>,
  { signal, retryMs, onFailure }: UntilDoneOptions,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) break;
      onFailure(error);
      await sleep(retryMs, signal);
    }
  }
  return undefined;
}
