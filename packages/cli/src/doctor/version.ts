/**
 * Whether a version like `6.0.5` or `2.10.0-beta.1` is at least another. Missing parts, and parts
 * that do not begin with a digit, count as 0.
 */
export function atLeast(version: string, least: string): boolean {
  const [parts, floor] = [numbersOf(version), numbersOf(least)];
  const differing = floor.findIndex((number, index) => number !== (parts[index] ?? 0));
  return differing === -1 || (parts[differing] ?? 0) > (floor[differing] ?? 0);
}

function numbersOf(version: string): number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10) || 0);
}
