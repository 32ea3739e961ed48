import type { AnyBulkWriteOperation, UpdateFilter } from "mongodb";
import type { Changes, Slug } from "../domain/transitions/changes.ts";
import type { SlugRow } from "./rows.ts";

/**
 * Keeps the slugs that documents have lost. Version 2 keeps those that documents have here, too,
 * written after them: a slug that one document lost another may have taken.
 *
 * @param asVersion2 with the rows that processes of version 2 read
 */
export function toSlugUpdates(
  tenantId: string,
  { retiredSlugs, publications }: Changes,
  asVersion2: boolean,
): AnyBulkWriteOperation<SlugRow>[] {
  const put = ({ type, slug, documentId }: Slug, update: UpdateFilter<SlugRow>): AnyBulkWriteOperation<SlugRow> => {
    const set = { ...update, $set: { ...update.$set, documentId } };
    return { updateOne: { filter: { tenantId, type, slug }, update: set, upsert: true } };
  };
  if (!asVersion2) return retiredSlugs.map((slug) => put(slug, { $unset: { current: "" } }));
  const taken = publications.flatMap(({ type, documentId, content }): Slug[] => {
    return content?.slug === undefined ? [] : [{ type, documentId, slug: content.slug }];
  });
  return [
    ...retiredSlugs.map((slug) => put(slug, { $set: { current: false } })),
    ...taken.map((slug) => put(slug, { $set: { current: true } })),
  ];
}
