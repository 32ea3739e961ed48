import { setFlagsFromString } from "node:v8";

/**
 * Makes V8 use less memory, for a process whose memory matters more than its CPU. V8 collects old
 * objects sooner (by default only once the heap has grown to a multiple of what is used), and
 * compiles functions without Maglev, whose working memory glibc does not return to the system.
 *
 * The flags are set by calls because NODE_OPTIONS does not accept them. They apply to all threads
 * of the process.
 */
export function keepMemorySmall(): void {
  setFlagsFromString("--optimize-for-size");
  setFlagsFromString("--no-maglev");
}
