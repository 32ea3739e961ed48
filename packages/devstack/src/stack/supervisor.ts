import { setTimeout as pause } from "node:timers/promises";
import type { ChildExit } from "../child.ts";

/** A process that can be kept alive. */
export interface Supervised extends AsyncDisposable {
  /** Undefined for a server that is somebody else's. */
  readonly pid: number | undefined;
  readonly exited: Promise<ChildExit>;
}

/** What is told about a process that is kept alive. */
export interface SupervisorEvents {
  /** It runs, for the first time or again. */
  onStart(name: string, pid: number | undefined): void;
  /** It ended unasked and will be started again. */
  onExit(name: string, exit: ChildExit): void;
  /** It could not be started again; the next try follows. */
  onFault(name: string, error: unknown): void;
}

const restartDelayMs = 100;
const restartDelayMsMax = 1_500;
/** A process that lived this long died of something else than its own start. */
const settledMs = 10_000;

/**
 * Starts a process and starts it again whenever it ends, at once the first time and at most 1.5 s later when it keeps
 * dying, until disposed. Rejects when the very first start fails.
 */
export async function supervise(
  name: string,
  start: () => Promise<Supervised>,
  events: SupervisorEvents,
): Promise<AsyncDisposable> {
  const stop = new AbortController();
  let current = await start();
  events.onStart(name, current.pid);

  async function keepAlive(): Promise<void> {
    let delayMs = restartDelayMs;
    while (!stop.signal.aborted) {
      const started = performance.now();
      const exit = await Promise.race([current.exited, aborted(stop.signal)]);
      if (exit === undefined) return;
      events.onExit(name, exit);
      delayMs = performance.now() - started > settledMs ? restartDelayMs : Math.min(delayMs * 2, restartDelayMsMax);
      const next = await restarted(delayMs);
      if (next === undefined) return;
      current = next;
      events.onStart(name, current.pid);
    }
  }

  async function restarted(delayMs: number): Promise<Supervised | undefined> {
    for (let wait = delayMs; ; wait = restartDelayMsMax) {
      await pause(wait, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return undefined;
      try {
        return await start();
      } catch (error) {
        events.onFault(name, error);
      }
    }
  }

  const watching = keepAlive();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
      await current[Symbol.asyncDispose]();
    },
  };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
