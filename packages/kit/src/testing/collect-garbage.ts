import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

/** Collects all garbage. Buffers are freed with their last view, in a later turn of the loop. */
export async function collectGarbage(): Promise<void> {
  if (typeof collect !== "function") throw new TypeError("V8 has no gc()");
  for (let times = 0; times < 3; times += 1) {
    await nextTurn();
    collect();
  }
}
