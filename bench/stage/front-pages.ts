/** Earlier than every publication. */
const before = new Date("2020-01-01T00:00:00.000Z").getTime();
let asked = 0;

/**
 * A page that nobody has asked for before: the same rows as `path`, but no cached or shared answer.
 */
export function unreadPage(path: string): string {
  asked += 1;
  return `${path}&updatedSince=${new Date(before + asked).toISOString()}`;
}

/** `count` different pages of the same rows, to be read repeatedly. */
export function frontPages(path: string, count: number): string[] {
  return Array.from({ length: count }, () => unreadPage(path));
}
