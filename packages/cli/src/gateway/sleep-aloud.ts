import type { World } from "../world.ts";

/** Shorter pauses pass before anybody wonders. */
const longMs = 5_000;

/**
 * A sleep that says on standard error why nothing happens, when it is long. Of requests that wait at the same time, one
 * speaks for all.
 */
export function sleepAloud(world: World): (ms: number) => Promise<void> {
  let spokenUntil = 0;
  return (ms) => {
    const until = Date.now() + ms;
    if (ms >= longMs && until > spokenUntil + longMs) {
      spokenUntil = until;
      // Takes the place of a progress bar, which then goes on below.
      const lineStart = world.stderr.isTTY ? "\r\u001b[K" : "";
      world.stderr.write(`${lineStart}the platform asks to come back in ${Math.ceil(ms / 1000)} s: waiting\n`);
    }
    return world.sleep(ms);
  };
}
