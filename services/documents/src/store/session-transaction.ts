import type { AnyBulkWriteOperation, ClientSession, Collection, Filter } from "mongodb";
import type { Changes, Publication } from "../domain/transitions/changes.ts";
import type { TransitionTransaction } from "../domain/transitions/transition-transaction.ts";
import { fromHeadRow, toStatusColumns } from "./head-row.ts";
import { type PublicationRow, toPublicationRow } from "./publication-row.ts";
import { fromSlugRow, fromStoredVersionRow, toHistoryRow, toSnapshotRow } from "./transition-rows.ts";
import { readRows } from "./read-rows.ts";
import type { ClockRow, HeadRow, HistoryRow, SlugRow, SnapshotRow, VersionRow } from "./rows.ts";

/** How long a tick of another process counts as a moment ago. */
const rivalryMs = 250;

/** Collections that transitions read and write. */
export interface TransitionCollections {
  clocks: Collection<ClockRow>;
  heads: Collection<HeadRow>;
  versions: Collection<VersionRow>;
  history: Collection<HistoryRow>;
  publications: Collection<PublicationRow>;
  snapshots: Collection<SnapshotRow>;
  slugs: Collection<SlugRow>;
}

/**
 * The statements of one transaction. A session carries one statement at a time, and each one takes
 * a round trip, so new rows are inserted together, and rows that get the same values are updated
 * together.
 */
export class SessionTransaction implements TransitionTransaction {
  wrote = false;
  hasRival = false;
  /** The tenant's clock as this transaction leaves it, once it has ticked. */
  clock: Pick<ClockRow, "tick" | "types"> | undefined;
  readonly #collections: TransitionCollections;
  readonly #session: ClientSession;
  readonly #tenantId: string;
  readonly #holder: string;

  constructor(collections: TransitionCollections, session: ClientSession, tenantId: string, holder: string) {
    this.#collections = collections;
    this.#session = session;
    this.#tenantId = tenantId;
    this.#holder = holder;
  }

  async tick(types: ReadonlySet<string>): Promise<Date> {
    const isRecent = { $gt: ["$tick", { $subtract: ["$$NOW", rivalryMs] }] };
    const taken = {
      tick: { $max: ["$$NOW", { $add: ["$tick", 1] }] },
      holder: this.#holder,
      rival: { $cond: [isRecent, "$holder", null] },
    };
    // Type names are data, never paths.
    const stamps = Array.from(types, (type) => {
      const input = { $ifNull: ["$types", {}] };
      return { $set: { types: { $setField: { field: { $literal: type }, input, value: "$tick" } } } };
    });
    const stages = [{ $set: taken }, ...stamps];
    const row = await this.#collections.clocks.findOneAndUpdate({ tenantId: this.#tenantId }, stages, {
      upsert: true,
      returnDocument: "after",
      projection: { tick: 1, types: 1, rival: 1 },
      session: this.#session,
    });
    if (!row) throw new TypeError("an upsert answered no row");
    this.hasRival = row.rival !== null && row.rival !== undefined && row.rival !== this.#holder;
    this.clock = row;
    return row.tick;
  }

  async readHeads(documentIds: readonly string[], bytesMax: number) {
    const filter = { tenantId: this.#tenantId, documentId: { $in: [...documentIds] } };
    const cursor = this.#collections.heads.find(filter, { projection: { _id: 0 }, session: this.#session });
    const bytesOf = ({ content, links, meta, title }: HeadRow) =>
      content.length() + links.length() + meta.length() + title.length();
    const { rows, hasMore } = await readRows(cursor, { rowsMax: documentIds.length, bytesMax, bytesOf });
    return { heads: rows.map(fromHeadRow), complete: !hasMore };
  }

  async readVersions(references: readonly { documentId: string; version: number }[]) {
    const $or = references.map(({ documentId, version }) => ({ documentId, version }));
    const filter = { tenantId: this.#tenantId, $or };
    const rows = await this.#collections.versions.find(filter, { session: this.#session }).toArray();
    return rows.map(fromStoredVersionRow);
  }

  async readSlugs(named: readonly { type: string; slug: string }[], holders: readonly string[]) {
    const $or: Filter<SlugRow>[] = [];
    for (const [type, ofType] of Map.groupBy(named, (each) => each.type)) {
      $or.push({ type, slug: { $in: ofType.map(({ slug }) => slug) } });
    }
    if (holders.length > 0) $or.push({ documentId: { $in: [...holders] }, current: true });
    if ($or.length === 0) return [];
    const filter = { tenantId: this.#tenantId, $or };
    const rows = await this.#collections.slugs.find(filter, { session: this.#session }).toArray();
    return rows.map(fromSlugRow);
  }

  async write(changes: Changes): Promise<void> {
    this.wrote = true;
    await this.#writeHeads(changes);
    const tenantId = this.#tenantId;
    const options = { session: this.#session };
    const { history, publications, snapshots } = changes;
    await this.#collections.history.insertMany(
      history.map((entry) => toHistoryRow(tenantId, entry)),
      options,
    );
    if (publications.length === 0) return;
    await this.#writePublications(publications);
    await this.#collections.snapshots.insertMany(
      snapshots.map((snapshot) => toSnapshotRow(tenantId, snapshot)),
      options,
    );
    await this.#writeSlugs(changes);
  }

  async #writeHeads({ heads }: Changes): Promise<void> {
    const alike = Map.groupBy(heads, ({ state }) => JSON.stringify(state));
    const operations = [...alike.values()].flatMap((group): AnyBulkWriteOperation<HeadRow>[] => {
      const [first] = group;
      if (!first) return [];
      const documentId = { $in: group.map((each) => each.documentId) };
      return [
        {
          updateMany: {
            filter: { tenantId: this.#tenantId, documentId },
            update: { $set: toStatusColumns(first.state) },
          },
        },
      ];
    });
    const { matchedCount } = await this.#collections.heads.bulkWrite(operations, { session: this.#session });
    if (matchedCount !== heads.length) throw new TypeError("a head that was read is not there");
  }

  /** The first publication of a document is an insert: it has no row to replace. */
  async #writePublications(publications: readonly Publication[]): Promise<void> {
    const operations = publications.map((publication): AnyBulkWriteOperation<PublicationRow> => {
      const row = toPublicationRow(this.#tenantId, publication);
      const { tenantId, documentId, sequence } = row;
      if (sequence === 1) return { insertOne: { document: row } };
      return { replaceOne: { filter: { tenantId, documentId }, replacement: row, upsert: true } };
    });
    // Unordered, so that the driver gathers the inserts in one statement.
    await this.#collections.publications.bulkWrite(operations, { ordered: false, session: this.#session });
  }

  async #writeSlugs({ slugs }: Changes): Promise<void> {
    if (slugs.length === 0) return;
    const operations = slugs.map(({ isNew, ...slug }): AnyBulkWriteOperation<SlugRow> => {
      const row = { tenantId: this.#tenantId, ...slug };
      if (isNew) return { insertOne: { document: row } };
      const { tenantId, type, slug: name, documentId, current } = row;
      return { updateOne: { filter: { tenantId, type, slug: name }, update: { $set: { documentId, current } } } };
    });
    await this.#collections.slugs.bulkWrite(operations, { ordered: false, session: this.#session });
  }
}
