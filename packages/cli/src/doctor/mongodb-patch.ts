import { atLeast } from "./version.ts";

/**
 * The first patch release of each series that fixes CVE-2026-118383 and the vulnerabilities known
 * before it, newest series first. 8.2 never got that fix: its support ended in July 2026.
 */
const fixedIn = ["9.0.7", "8.3.16", "8.0.37", "7.0.48", "6.0.30"];

export const unpatchedFault =
  "CVE-2026-118383 lets everybody who reaches it, without a password, end it, and perhaps run code in it";

/**
 * The patch release to which a MongoDB version must be updated. For a series that never got the fix
 * it is that of the next fixed series. Undefined for a version that has the fix, or whose series is
 * newer than all of `fixedIn`.
 */
export function lacksPatch(version: string): string | undefined {
  if (fixedIn.some((fixed) => seriesOf(fixed) === seriesOf(version) && atLeast(version, fixed))) return undefined;
  return fixedIn.findLast((fixed) => atLeast(seriesOf(fixed), seriesOf(version)));
}

function seriesOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}
