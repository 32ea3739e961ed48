/** Before everything that is published. */
const before = new Date("2020-01-01T00:00:00.000Z").getTime();

/** The first page of a list, asked for in so many ways: the same rows each time, and nobody shares another's answer. */
export function frontPages(path: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    return `${path}&updatedSince=${new Date(before + index).toISOString()}`;
  });
}
