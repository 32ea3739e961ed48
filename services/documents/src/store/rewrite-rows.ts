import type { Collection, Db, Filter, UpdateFilter, WithId } from "mongodb";
import type { SnapshotKey } from "../domain/snapshots/snapshot-feed.ts";
import { type DocumentSlug, slugOfDocument } from "./head-update.ts";
import type { PublicationRow } from "./publication-row.ts";
import type { HeadRow, SlugRow } from "./rows.ts";
import { dropIndex } from "./indexes.ts";
import { groupSnapshots } from "./snapshot-groups.ts";

/** Rows in one step: a step ends in tens of milliseconds, and nobody waits for its locks. */
const stepRows = 500;

/**
 * Rewrites what version 2 wrote. Each step stands for itself, leaves out what a transition changes
 * meanwhile, and changes nothing when it is repeated; so it may be interrupted anywhere, and run
 * beside services and beside itself.
 */
export async function rewriteRows(db: Db): Promise<void> {
  await rewriteHeads(db);
  const publications = db.collection<PublicationRow>("publications");
  await inSteps(publications, { state: { $exists: true } }, async (ids) => {
    await publications.updateMany({ _id: { $in: ids } }, { $unset: { state: "" } });
  });
  await rewriteSlugs(db.collection<SlugRow>("slugs"));
  await dropIndexes(db);
}

/** `live` becomes `lastPublished`, with the slug of the publication. */
async function rewriteHeads(db: Db): Promise<void> {
  const heads = db.collection<HeadRow>("heads");
  const publications = db.collection<PublicationRow>("publications");
  const columns = { tenantId: 1, documentId: 1, sequence: "$live.sequence" } as const;
  const rows = heads.find({ live: { $exists: true } }).project<SnapshotKey>(columns);
  for await (const step of chunks(rows)) {
    for (const { filter, members } of groupSnapshots(step)) {
      const { tenantId, sequence, documentId } = filter;
      const held = publications.find({ tenantId, sequence, documentId, slug: { $exists: true } });
      const slugs = await held.project<Required<DocumentSlug>>({ _id: 0, documentId: 1, slug: 1 }).toArray();
      const slugOf = new Map(slugs.map((slug) => [slug.documentId, slug]));
      const named = members.map(({ documentId: id }) => slugOf.get(id) ?? { documentId: id });
      // A transition in between has changed the sequence, or the column.
      await heads.updateMany({ tenantId, documentId, "live.sequence": sequence }, [
        { $set: { lastPublished: { $mergeObjects: ["$live", slugOfDocument(named)] } } },
        { $unset: "live" },
      ]);
    }
  }
}

/**
 * The rows of slugs that documents have go: publications have them, too. A document that has lost
 * such a slug meanwhile has taken the mark off its row, which then stays.
 */
async function rewriteSlugs(slugs: Collection<SlugRow>): Promise<void> {
  await inSteps(slugs, { current: true }, async (ids) => {
    await slugs.deleteMany({ _id: { $in: ids }, current: true });
  });
  await inSteps(slugs, { current: { $exists: true } }, async (ids) => {
    const unmark: UpdateFilter<SlugRow> = { $unset: { current: "" } };
    await slugs.updateMany({ _id: { $in: ids }, current: false }, unmark);
  });
}

const newestFirst = { updatedAt: -1, documentId: -1 };

/** Indexes that only version 2 reads by. */
async function dropIndexes(db: Db): Promise<void> {
  await dropIndex(db.collection("publications"), { tenantId: 1, type: 1, state: 1, ...newestFirst });
  await dropIndex(db.collection("publications"), { tenantId: 1, type: 1, slug: 1, ...newestFirst });
  await dropIndex(db.collection("slugs"), { tenantId: 1, documentId: 1 });
}

async function inSteps<Row extends object>(
  rows: Collection<Row>,
  filter: Filter<Row>,
  step: (ids: WithId<Row>["_id"][]) => Promise<void>,
): Promise<void> {
  const found = rows.find(filter).project<{ _id: WithId<Row>["_id"] }>({ _id: 1 });
  for await (const chunk of chunks(found)) await step(chunk.map(({ _id }) => _id));
}

async function* chunks<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let chunk: Item[] = [];
  for await (const item of items) {
    if (chunk.push(item) < stepRows) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
