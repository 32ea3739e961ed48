import { setFlagsFromString } from "node:v8";

/**
 * Makes V8 collect its old objects when heap and buffers together have grown in proportion to their
 * size, instead of each time that buffers have grown by 64 MiB. V8 would otherwise collect them
 * every second in a service that passes on bodies or pages of megabytes, for 20 to 40 ms of the
 * event loop and as much of another core, while little of the heap is garbage.
 *
 * The flag is set by a call because NODE_OPTIONS does not accept it. It applies to all threads of
 * the process.
 */
export function collectRarely(): void {
  setFlagsFromString("--external-memory-accounted-in-global-limit");
}
