import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

interface MemoryWatch {
  /** Ends the watch. Returns the peak since its start. */
  peakMiB(): Promise<number>;
}

const everyMs = 100;

/** Watches a process's resident memory through the kernel, since a busy process does not answer. */
export function watchMemory(pid: number): MemoryWatch {
  const over = new AbortController();
  const watch = (async () => {
    let peak = 0;
    while (!over.signal.aborted) {
      peak = Math.max(peak, await residentMiB(pid));
      await pause(everyMs, undefined, { signal: over.signal }).catch(() => {});
    }
    return peak;
  })();
  return {
    peakMiB() {
      over.abort();
      return watch;
    },
  };
}

/** A process's resident memory; 0 when it has ended. */
export async function residentMiB(pid: number): Promise<number> {
  const kib = process.platform === "linux" ? await fromProc(pid) : await fromPs(pid);
  return kib / 1_024;
}

async function fromProc(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
}

async function fromPs(pid: number): Promise<number> {
  const shown = promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]);
  return shown.then(
    ({ stdout }) => Number(stdout),
    () => 0,
  );
}
