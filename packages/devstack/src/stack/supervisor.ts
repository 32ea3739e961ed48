import { setTimeout as pause } from "node:timers/promises";
import type { ChildExit } from "../child.ts";

export interface Supervised extends AsyncDisposable {
  /** Undefined for a server that the dev stack did not start. */
  readonly pid: number | undefined;
  readonly exited: Promise<ChildExit>;
}

export interface SupervisorEvents {
  onStart(name: string, pid: number | undefined): void;
  /** The process ended, and will be restarted. */
  onExit(name: string, exit: ChildExit): void;
  /** A restart failed and will be tried again. */
  onFault(name: string, error: unknown): void;
}

const restartDelayMs = 100;
const restartDelayMsMax = 1_500;
/** An exit after this time is not the fault of the start, so the restart delay is reset. */
const stableMs = 10_000;

/**
 * Starts a process and restarts it when it ends, until disposed. A process that ran for more than
 * 10 s is restarted after 0.1 s; while the process keeps ending sooner, the delay doubles up to
 * 1.5 s. Rejects when the first start fails.
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
      delayMs = performance.now() - started > stableMs ? restartDelayMs : Math.min(delayMs * 2, restartDelayMsMax);
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
