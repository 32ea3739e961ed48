import { broken, type Finding, ok, warning } from "./finding.ts";

/** Below this, a whole second of resolution and a slow network explain it. */
const noticeableMs = 5_000;
/** Receivers refuse webhooks whose time is further from theirs. */
const refusedMs = 300_000;

/** Judges how far the clock of `where` is from ours; positive when it is ahead. */
export function judgeClock(where: string, skewMs: number): Finding {
  const check = `clock of ${where}`;
  const seconds = Math.abs(skewMs / 1000).toFixed(1);
  if (Math.abs(skewMs) < noticeableMs) return ok(check, `within ${noticeableMs / 1000} s of this machine's`);
  const finding = `${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} this machine's`;
  const remedy = "Find out which of the two is wrong (`timedatectl`, `chronyc tracking`) and let NTP keep both.";
  if (Math.abs(skewMs) < refusedMs) return warning(check, finding, remedy);
  return broken(check, finding, `${remedy} Receivers refuse webhooks that are five minutes off.`);
}
