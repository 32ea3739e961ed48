import { setTimeout as pause } from "node:timers/promises";
import { type LoadResult, summarise } from "./load-result.ts";

/** An open loop: requests start at a fixed rate, and a late one delays no other. */
export interface PacedLoadOptions {
  readonly perSecond: number;
  readonly durationMs: number;
  /** Sends one request; resolves when it is answered, and fails the run by rejecting. */
  send(): Promise<void>;
}

/** Resolves when the last request is answered. Rejects when one fails. */
export async function runPaced({ perSecond, durationMs, send }: PacedLoadOptions): Promise<LoadResult> {
  const started = performance.now();
  const count = Math.round((durationMs * perSecond) / 1_000);
  const latencies = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await pause(Math.max(0, started + (index * 1_000) / perSecond - performance.now()));
      const sent = performance.now();
      await send();
      return performance.now() - sent;
    }),
  );
  return summarise(latencies, performance.now() - started);
}
