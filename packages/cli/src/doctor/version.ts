/**
 * Whether a version like `6.0.5` or `2.10.0-beta.1` is at least another. Other parts count as 0.
 */
export function atLeast(version: string, least: string): boolean {
  const [parts, floor] = [numbersOf(version), numbersOf(least)];
  const place = floor.findIndex((number, index) => number !== (parts[index] ?? 0));
  return place === -1 || (parts[place] ?? 0) > (floor[place] ?? 0);
}

function numbersOf(version: string): number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10) || 0);
}
