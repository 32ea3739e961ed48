import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";

/**
 * Niceness of the helpers. All four of them that are busy then get three tenths of the CPU that
 * their process gets, and its event loop seven; at the same priority they got four fifths of it.
 */
export const helperNiceness = 10;

/**
 * Lowers the priority of the threads with which V8 marks the heap and compiles functions beside the
 * event loop. On a machine without an idle core they would take its CPU: an event loop that had
 * work for 250 ms got 60 of them while 60 bodies of 1 MB arrived. What it waits for they still do at
 * once, because it is idle meanwhile.
 *
 * Only Linux has a priority for each thread; elsewhere this does nothing.
 */
export function lowerHelpers(): void {
  if (process.platform !== "linux") return;
  for (const id of readdirSync("/proc/self/task")) {
    if (nameOf(id).startsWith("node-V8Worker")) setPriority(Number(id), helperNiceness);
  }
}

/** A thread's name; "" when it has ended. */
function nameOf(threadId: string): string {
  try {
    return readFileSync(`/proc/self/task/${threadId}/comm`, "latin1");
  } catch {
    return "";
  }
}
