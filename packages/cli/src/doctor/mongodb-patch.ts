import { atLeast } from "./version.ts";

/**
 * The first patch release of each series that fixes CVE-2025-14847, newest series first. In older
 * releases anyone who reaches mongod can read its memory without a password, with a message
 * compressed by zlib.
 */
const fixedIn = ["8.2.3", "8.0.17", "7.0.28", "6.0.27"];

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
