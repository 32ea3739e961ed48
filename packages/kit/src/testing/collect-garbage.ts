import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

/** Collects in three turns of the loop: a buffer is freed in a later turn than its last view. */
export async function collectGarbage(): Promise<void> {
  if (typeof collect !== "function") throw new TypeError("V8 has no gc()");
  for (let times = 0; times < 3; times += 1) {
    await nextTurn();
    collect();
  }
}
