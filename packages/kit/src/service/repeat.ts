import { sleep } from "./sleep.ts";

interface RepeatOptions {
  /** Pause between the end of one run and the start of the next. */
  readonly everyMs: number;
  /** Pause after a failed run; `everyMs` by default. */
  readonly retryMs?: number;
  /** Whether the first run comes after `everyMs`; at once by default. */
  readonly pausesFirst?: boolean;
  /** `sleep` by default. Another one may end early, and must end when the signal aborts. */
  readonly pause?: typeof sleep;
  /** Called after a failed run, except when a stop has ended it. */
  onFailure(error: unknown): void;
}

/**
 * Repeats work until the result is disposed. Disposing aborts the signal, ends the pause, and waits
 * for the current run.
 */
export function repeat(
  work: (signal: AbortSignal) => Promise<void>,
  { everyMs, retryMs = everyMs, pausesFirst = false, pause = sleep, onFailure }: RepeatOptions,
): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const loop = async () => {
    let waitMs = pausesFirst ? everyMs : 0;
    while (!signal.aborted) {
      if (waitMs > 0) await pause(waitMs, signal);
      if (signal.aborted) return;
      waitMs = everyMs;
      try {
        await work(signal);
      } catch (error) {
        if (!signal.aborted) onFailure(error);
        waitMs = retryMs;
      }
    }
  };
  const looping = loop();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await looping;
    },
  };
}
