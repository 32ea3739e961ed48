import type { AnyBulkWriteOperation, ClientSession, Collection } from "mongodb";
import type { SlugName } from "../domain/published-reads/read-documents.ts";
import type { SiteClaim } from "../domain/sites/site-claims.ts";
import type { Changes, Publication, Slug } from "../domain/transitions/changes.ts";
import type { TransitionTransaction } from "../domain/transitions/transition-transaction.ts";
import { fromHeadRow } from "./head-row.ts";
import { toHeadUpdates } from "./head-update.ts";
import { type PublicationRow, toPublicationRow } from "./publication-row.ts";
import { fromTransitionRow, fromStoredVersionRow, toTransitionRow, toSnapshotRow } from "./transition-rows.ts";
import { readRows } from "./read-rows.ts";
import { siteColumns, siteFilter, type SiteRow, toSiteClaim } from "./site-rows.ts";
import { slugFilters } from "./slug-store.ts";
import type { ClockRow, HeadRow, HistoryRow, SlugRow, SnapshotRow, VersionRow } from "./rows.ts";

/** Two processes that tick a clock within this time of each other are rivals: they alternate. */
const rivalryMs = 250;

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
 * The statements of one transaction. A session runs one statement at a time, each a round trip, so
 * new rows are inserted together, and rows that get the same values are updated together.
 */
export class SessionTransaction implements TransitionTransaction {
  wrote = false;
  hasRival = false;
  /** The tenant's clock with the tick of this transaction; undefined before the tick. */
  clock: Pick<ClockRow, "tick" | "types"> | undefined;
  readonly followsDuplicate: boolean;
  readonly #collections: TransitionCollections;
  readonly #session: ClientSession;
  readonly #tenantId: string;
  readonly #holder: string;

  constructor(
    collections: TransitionCollections,
    session: ClientSession,
    { tenantId, holder, followsDuplicate }: { tenantId: string; holder: string; followsDuplicate: boolean },
  ) {
    this.#collections = collections;
    this.#session = session;
    this.#tenantId = tenantId;
    this.#holder = holder;
    this.followsDuplicate = followsDuplicate;
  }

  async tick(types: ReadonlySet<string>): Promise<Date> {
    const isRecent = { $gt: ["$tick", { $subtract: ["$$NOW", rivalryMs] }] };
    const taken = {
      tick: { $max: ["$$NOW", { $add: ["$tick", 1] }] },
      holder: this.#holder,
      rival: { $cond: [isRecent, "$holder", null] },
    };
    // `$setField`, because the name of a type is data and must not be used as a path.
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
    const bytesOf = ({ content, links, meta, title, titleRich }: HeadRow) =>
      content.length() + links.length() + meta.length() + title.length() + (titleRich?.length() ?? 0);
    const { rows, hasMore } = await readRows(cursor, { rowsMax: documentIds.length, bytesMax, bytesOf });
    return { heads: rows.map(fromHeadRow), complete: !hasMore };
  }

  async readVersions(references: readonly { documentId: string; version: number }[]) {
    const $or = references.map(({ documentId, version }) => ({ documentId, version }));
    const filter = { tenantId: this.#tenantId, $or };
    const rows = await this.#collections.versions.find(filter, { session: this.#session }).toArray();
    return rows.map(fromStoredVersionRow);
  }

  async readSlugs(slugs: readonly SlugName[]): Promise<Slug[]> {
    if (!this.followsDuplicate) return [];
    const filter = { tenantId: this.#tenantId, $or: slugFilters(slugs) };
    const projection = { _id: 0, type: 1, slug: 1, documentId: 1 };
    return this.#collections.publications.find(filter, { session: this.#session }).project<Slug>(projection).toArray();
  }

  async readSites(wanted: readonly SiteClaim[]): Promise<SiteClaim[]> {
    const rows = this.#collections.publications
      .find(siteFilter(this.#tenantId, wanted), { session: this.#session })
      .project<SiteRow>(siteColumns);
    return (await rows.toArray()).map(toSiteClaim);
  }

  async readRequests(requests: readonly { documentId: string; requestToken: string }[]) {
    const tenantId = this.#tenantId;
    const $or = requests.map(({ documentId, requestToken }) => {
      return { tenantId, documentId, "request.token": requestToken };
    });
    const rows = await this.#collections.history.find({ $or }, { session: this.#session }).toArray();
    return rows.map(fromTransitionRow);
  }

  async write(changes: Changes): Promise<void> {
    this.wrote = true;
    await this.#writeHeads(changes);
    const tenantId = this.#tenantId;
    const options = { session: this.#session };
    const { history, publications, snapshots } = changes;
    await this.#collections.history.insertMany(
      history.map((entry) => toTransitionRow(tenantId, entry)),
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
    const operations = toHeadUpdates(this.#tenantId, heads);
    const { matchedCount } = await this.#collections.heads.bulkWrite(operations, { session: this.#session });
    if (matchedCount !== heads.length) throw new TypeError("a head that was read is not there");
  }

  /**
   * The first publication of a document is inserted, which costs mongod less than a replacement.
   * Rows are replaced before any is inserted, so that a slug is released before another document's
   * first publication takes it.
   */
  async #writePublications(publications: readonly Publication[]): Promise<void> {
    const operations = publications
      .toSorted((a, b) => Number(a.isFirst) - Number(b.isFirst))
      .map((each): AnyBulkWriteOperation<PublicationRow> => {
        const row = toPublicationRow(this.#tenantId, each);
        if (each.isFirst) return { insertOne: { document: row } };
        const { tenantId, documentId } = row;
        return { replaceOne: { filter: { tenantId, documentId }, replacement: row, upsert: true } };
      });
    await this.#collections.publications.bulkWrite(operations, { session: this.#session });
  }

  /** A slug has a row already when a document lost it before, so rows are updated or inserted. */
  async #writeSlugs({ retiredSlugs }: Changes): Promise<void> {
    const tenantId = this.#tenantId;
    const operations = retiredSlugs.map(({ type, slug, documentId }): AnyBulkWriteOperation<SlugRow> => {
      return { updateOne: { filter: { tenantId, type, slug }, update: { $set: { documentId } }, upsert: true } };
    });
    if (operations.length > 0) await this.#collections.slugs.bulkWrite(operations, { session: this.#session });
  }
}
