import type { AnyBulkWriteOperation, Document } from "mongodb";
import type { HeadChange } from "../domain/transitions/changes.ts";
import type { HeadRow } from "./rows.ts";

interface DocumentSlug {
  readonly documentId: string;
  readonly slug?: string;
}

/**
 * Makes one statement for all heads that change alike: most documents that are published together
 * differ only in their slugs, and a statement for each would cost mongod three times as much.
 */
export function toHeadUpdates(tenantId: string, heads: readonly HeadChange[]): AnyBulkWriteOperation<HeadRow>[] {
  const alike = Map.groupBy(heads, ({ state: { lastPublished, ...rest } }) => {
    const { slug: _, ...shared } = lastPublished ?? {};
    return JSON.stringify([rest, shared]);
  });
  return [...alike.values()].flatMap((group): AnyBulkWriteOperation<HeadRow>[] => {
    const [first] = group;
    if (!first) return [];
    const filter = { tenantId, documentId: { $in: group.map(({ documentId }) => documentId) } };
    const slugs = group.map(({ documentId, state }) => ({ documentId, ...slugOf(state) }));
    return [{ updateMany: { filter, update: toStages(first.state, slugs) } }];
  });
}

function slugOf({ lastPublished }: HeadChange["state"]): { slug?: string } {
  return lastPublished?.slug === undefined ? {} : { slug: lastPublished.slug };
}

function toStages(state: HeadChange["state"], slugs: readonly DocumentSlug[]): Document[] {
  const { lastPublished, status, changedAt } = state;
  // `$literal`, because a status is data and must not be read as an expression.
  const columns = { status: { $literal: status }, changedAt };
  if (!lastPublished) return [{ $set: columns }];
  const { slug: _, ...shared } = lastPublished;
  const withSlug = { $mergeObjects: [{ $literal: shared }, slugOfDocument(slugs)] };
  return [{ $set: { ...columns, lastPublished: withSlug } }];
}

/** An aggregation expression: `{slug}` of the row's document, or `{}` when it has no slug. */
function slugOfDocument(slugs: readonly DocumentSlug[]): Document {
  const ids = slugs.map(({ documentId }) => documentId);
  const members = slugs.map(({ slug }) => (slug === undefined ? {} : { slug }));
  const position = { $indexOfArray: [{ $literal: ids }, "$documentId"] };
  return { $arrayElemAt: [{ $literal: members }, position] };
}
