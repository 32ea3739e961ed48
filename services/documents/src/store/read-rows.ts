import type { FindCursor } from "mongodb";

interface RowBounds<Row> {
  readonly rowsMax: number;
  readonly bytesMax: number;
  bytesOf(row: Row): number;
}

/**
 * Reads at most `rowsMax` rows, fewer when more would exceed `bytesMax` bytes, but at least one;
 * `hasMore` when there are others. Rows are taken a batch at a time, because `for await` waits for
 * each row, and these waits took a fifth of a page's time.
 */
export async function readRows<Row>(
  cursor: FindCursor<Row>,
  { rowsMax, bytesMax, bytesOf }: RowBounds<Row>,
): Promise<{ rows: Row[]; hasMore: boolean }> {
  await using open = cursor;
  const rows: Row[] = [];
  let bytes = 0;
  while (await open.hasNext()) {
    for (const row of open.readBufferedDocuments()) {
      bytes += bytesOf(row);
      if (rows.length === rowsMax || (rows.length > 0 && bytes > bytesMax)) return { rows, hasMore: true };
      rows.push(row);
    }
  }
  return { rows, hasMore: false };
}
