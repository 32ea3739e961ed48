/** Most rows of a page; the services refuse a request for more. */
const pageRowsMax = 200;

/** One page, and the token of the next one; "" when there is none. */
interface RowPage<T> {
  readonly rows: readonly T[];
  readonly nextPageToken: string;
}

/**
 * Reads page after page until there are `rowsMax` rows or no more.
 *
 * @returns the rows, and whether more were left
 */
export async function walkPages<T>(
  rowsMax: number,
  readPage: (request: { limit: number; pageToken: string }) => Promise<RowPage<T>>,
): Promise<{ rows: T[]; more: boolean }> {
  const rows: T[] = [];
  let pageToken = "";
  do {
    const page = await readPage({ limit: Math.min(pageRowsMax, rowsMax - rows.length), pageToken });
    rows.push(...page.rows);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && rows.length < rowsMax);
  return { rows, more: pageToken !== "" };
}
