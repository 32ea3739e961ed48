import { setFlagsFromString } from "node:v8";

/**
 * Lets V8 give pages back to the system as soon as a collection has emptied them. By default it
 * keeps them for 8 s, which begin anew with each collection: under imports that follow each other
 * phrases had 60 MiB of pages without a content beside a heap of 55.
 *
 * A call, because NODE_OPTIONS does not take this flag. It holds for all threads of the process.
 */
export function releasePages(): void {
  setFlagsFromString("--memory-pool-timeout=0");
}
