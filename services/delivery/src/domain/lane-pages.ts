import { compareRows, type LaneRow, type LaneState } from "./advance-lane.ts";

/** The parts of a lane that are read when the lane is too long to be read completely. */
interface LanePages<Row extends LaneRow> {
  /** The oldest rows, without a gap. */
  readonly oldest: readonly Row[];
  /** The two newest rows, the newest last. */
  readonly newest: readonly Row[];
  /** Rows from the first one that was never refused, without a gap; read if `needsUntried`. */
  readonly untried?: readonly Row[];
  /** The row to which older rows yielded, if any. */
  readonly yieldedTo?: Row | undefined;
}

/**
 * Whether the first row that was never refused may lie between the pages. Rows are refused in
 * order, so those that were never refused are the newest ones of the lane.
 */
export function needsUntried({ oldest, newest }: Pick<LanePages<LaneRow>, "oldest" | "newest">): boolean {
  return (oldest.at(-1)?.isRefused ?? false) && newest[0]?.isRefused === false;
}

/** @param pageRows most rows of a page; a shorter page ends at the lane's newest row */
export function assembleLane<Row extends LaneRow>(
  { oldest, newest, untried, yieldedTo }: LanePages<Row>,
  pageRows: number,
): Pick<LaneState<Row>, "rows" | "contiguous" | "hasMore" | "isTailNext" | "isTailEnd"> {
  const tail = untried ?? newest;
  const known = new Map(oldest.map((row) => [row.deliveryId, row]));
  const contiguous = known.size;
  for (const row of [...(yieldedTo ? [yieldedTo] : []), ...tail]) known.set(row.deliveryId, row);
  return {
    rows: [...known.values()].toSorted(compareRows),
    contiguous,
    hasMore: oldest.length >= pageRows,
    isTailNext: untried !== undefined || (newest[0]?.isRefused ?? false),
    isTailEnd: untried === undefined || untried.length < pageRows,
  };
}
