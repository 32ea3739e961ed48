import { setFlagsFromString } from "node:v8";

/**
 * Lets V8 collect its old objects when heap and buffers together have grown by a third, and not each
 * time that buffers have grown by 64 MiB. In a service that passes on bodies or pages of megabytes
 * that is every second, and each time takes 20 to 40 ms of the event loop and as much of another
 * core, while little of the heap is garbage.
 *
 * A call, because NODE_OPTIONS does not take this flag. It holds for all threads of the process.
 */
export function collectRarely(): void {
  setFlagsFromString("--external-memory-accounted-in-global-limit");
}
