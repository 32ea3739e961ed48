import { setTimeout as pause } from "node:timers/promises";

/** The most memory a process was seen to have. */
export interface MemoryWatch {
  /** Ends the watch; answers bytes. */
  peak(): Promise<number>;
}

const everyMs = 100;

/** Watches a service's resident memory through its ops port. */
export function watchMemory(ops: string): MemoryWatch {
  const over = new AbortController();
  const watch = (async () => {
    let peak = 0;
    while (!over.signal.aborted) {
      peak = Math.max(peak, await residentBytes(ops));
      await pause(everyMs, undefined, { signal: over.signal }).catch(() => {});
    }
    return peak;
  })();
  return {
    peak() {
      over.abort();
      return watch;
    },
  };
}

async function residentBytes(ops: string): Promise<number> {
  const text = await (await fetch(new URL("/metrics", ops))).text();
  const [, bytes] = /^process_resident_memory_bytes(?:\{[^}]*\})? (\S+)/m.exec(text) ?? [];
  if (bytes === undefined) throw new Error(`${ops} does not say how much memory its process has`);
  return Number(bytes);
}
