import { atLeast } from "./version.ts";

/**
 * The first patch release of each series that fixes CVE-2026-118383 and the vulnerabilities known
 * before it, newest series first. 8.2 never got that fix: its support ended in July 2026.
 */
const fixedIn = ["9.0.7", "8.3.16", "8.0.37", "7.0.48", "6.0.30"];

/** What a mongod that lacks its patch is open to. */
export const unpatchedFault =
  "CVE-2026-118383 lets everybody who reaches it, without a password, end it, and perhaps run code in it";

/**
 * The patch release to which a MongoDB version must be updated; undefined when that version has the
 * fix. For series that never got the fix it is the release of the next fixed series.
 */
export function lacksPatch(version: string): string | undefined {
  if (fixedIn.some((fixed) => seriesOf(fixed) === seriesOf(version) && atLeast(version, fixed))) return undefined;
  return fixedIn.findLast((fixed) => atLeast(seriesOf(fixed), seriesOf(version)));
}

function seriesOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}
