import { type LoadResult, summarise } from "./load-result.ts";

/** A closed loop of callers: each calls again after its last answer. */
interface CallerLoadOptions {
  readonly callers: number;
  readonly durationMs: number;
  /** The next call of a caller (from 0); undefined when no work is left. */
  call(caller: number): Promise<unknown> | undefined;
}

/** Runs callers until the time is over or no work is left. Rejects when a call does. */
export async function runCallers({ callers, durationMs, call }: CallerLoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  const started = performance.now();
  const until = started + durationMs;
  const drive = async (caller: number) => {
    for (let sent = performance.now(); sent < until; sent = performance.now()) {
      const answer = call(caller);
      if (!answer) return;
      await answer;
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => drive(caller)));
  return summarise(latencies, performance.now() - started);
}
