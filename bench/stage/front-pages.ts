/** Earlier than every publication. */
const before = new Date("2020-01-01T00:00:00.000Z").getTime();

/**
 * `count` URLs of the first page of a list: the same rows, but no two readers share a cached
 * answer.
 */
export function frontPages(path: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    return `${path}&updatedSince=${new Date(before + index).toISOString()}`;
  });
}
