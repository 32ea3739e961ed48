import { broken, type Finding, ok, warning } from "./finding.ts";

/**
 * Smaller differences can come from a slow network, and from a Date header, which states whole
 * seconds.
 */
const noticeableMs = 5_000;
/** Receivers refuse the webhooks of a machine whose clock is this far off. */
const refusedMs = 300_000;

/**
 * Compares another clock with this machine's. `where` says whose clock it is; `skewMs` is how far
 * it is ahead, negative when it is behind.
 */
export function checkClock(where: string, skewMs: number): Finding {
  const check = `clock of ${where}`;
  const seconds = Math.abs(skewMs / 1000).toFixed(1);
  if (Math.abs(skewMs) < noticeableMs) return ok(check, `within ${noticeableMs / 1000} s of this machine's`);
  const finding = `${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} this machine's`;
  const remedy = "Find out which of the two is wrong (`timedatectl`, `chronyc tracking`) and let NTP keep both.";
  if (Math.abs(skewMs) < refusedMs) return warning(check, finding, remedy);
  return broken(check, finding, `${remedy} Receivers refuse webhooks that are five minutes off.`);
}
