import type { World } from "../world.ts";

/**
 * Pauses that are shorter, or that end within this time after the last announced one, are not
 * announced.
 */
const announcedMsMin = 5_000;

/**
 * Makes a sleep that announces long pauses on standard error, those of several requests that wait
 * at the same time by one line.
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
