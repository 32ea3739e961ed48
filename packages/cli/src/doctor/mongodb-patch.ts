import { atLeast } from "./version.ts";

/**
 * The first patch release of each series without CVE-2025-14847, newest series first.
 * In older ones, anyone who reaches mongod can read its memory without a password, by a message
 * that is compressed with zlib.
 */
const fixedIn = ["8.2.3", "8.0.17", "7.0.28", "6.0.27"];

/**
 * The patch release that a MongoDB version must be replaced by; undefined when it needs none. Series
 * between two of the list never got the fix: the answer is the release that has it.
 */
export function lacksPatch(version: string): string | undefined {
  if (fixedIn.some((fixed) => seriesOf(fixed) === seriesOf(version) && atLeast(version, fixed))) return undefined;
  return fixedIn.findLast((fixed) => atLeast(seriesOf(fixed), seriesOf(version)));
}

function seriesOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}
