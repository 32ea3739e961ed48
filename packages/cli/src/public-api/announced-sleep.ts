import type { World } from "../world.ts";

/** Neither is a pause announced that ends less than this after the last announced one. */
const announcedMsMin = 5_000;

/**
 * A sleep that announces long pauses on standard error. Several requests that wait at the same time
 * are announced by one line.
 */
export function announcedSleep(world: World): (ms: number) => Promise<void> {
  let announcedUntil = 0;
  return (ms) => {
    const until = Date.now() + ms;
    if (ms >= announcedMsMin && until > announcedUntil + announcedMsMin) {
      announcedUntil = until;
      // Overwrites a progress bar, which redraws itself on the next line.
      const lineStart = world.stderr.isTTY ? "\r\u001b[K" : "";
      world.stderr.write(`${lineStart}the platform asks to come back in ${Math.ceil(ms / 1000)} s: waiting\n`);
    }
    return world.sleep(ms);
  };
}
