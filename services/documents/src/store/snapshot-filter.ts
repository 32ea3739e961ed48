import type { SnapshotQuery } from "../domain/snapshots/snapshot-feed.ts";

/**
 * The filter for a page of a tenant's snapshots, in `snapshots` or in `publications`.
 *
 * @param column the column with the time of the commit
 */
export function snapshotFilter(
  tenantId: string,
  column: "committedAt" | "updatedAt",
  { since, until, types, after }: SnapshotQuery,
) {
  const bounds = [
    ...(since ? [{ [column]: { $gte: since } }] : []),
    ...(until ? [{ [column]: { $lt: until } }] : []),
    ...(types.length > 0 ? [{ type: { $in: [...types] } }] : []),
    ...(after ? behind(column, after) : []),
  ];
  return { tenantId, ...(bounds.length > 0 ? { $and: bounds } : {}) };
}

/**
 * An index scan starts at the first bound. The second one excludes the snapshots with the
 * position's time that earlier pages have shown.
 */
function behind(column: string, { committedAt, documentId, sequence }: NonNullable<SnapshotQuery["after"]>) {
  return [
    { [column]: { $gte: committedAt } },
    {
      $or: [
        { [column]: { $gt: committedAt } },
        { documentId: { $gt: documentId } },
        { documentId, sequence: { $gt: sequence } },
      ],
    },
  ];
}
