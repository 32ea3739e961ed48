import { readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/**
 * By how much the niceness of V8's helper threads is above the event loop's. With it the four
 * threads, when all are busy, get three tenths of a single core, and the event loop gets seven
 * tenths. At equal priority the threads would get four fifths.
 */
const helperNiceness = 10;

/**
 * Sets the niceness of a thread to `by` above the calling thread's, and to 19 at most. It cannot be
 * lowered again without a privilege.
 *
 * @param threadId 0 for the calling thread
 */
export function setNicer(by: number, threadId = 0): void {
  setPriority(threadId, Math.min(19, getPriority() + by));
}

/**
 * Lowers the priority of the threads with which V8 marks the heap and compiles functions beside the
 * event loop. On a machine without an idle core these threads take CPU from the event loop: an
 * event loop with 250 ms of work got only 60 ms of CPU while 60 bodies of 1 MB arrived. While the
 * event loop waits for such a thread, it is idle and takes no CPU from that thread.
 *
 * Node can set the priority of a single thread on Linux only; elsewhere the function does nothing.
 */
export function lowerHelpers(): void {
  if (process.platform !== "linux") return;
  for (const id of readdirSync("/proc/self/task")) {
    if (nameOf(id).startsWith("node-V8Worker")) setNicer(helperNiceness, Number(id));
  }
}

function nameOf(threadId: string): string {
  try {
    return readFileSync(`/proc/self/task/${threadId}/comm`, "latin1");
  } catch {
    return "";
  }
}
