import type { DatabaseIndexes, Index } from "@vidimus/kit/mongo/indexes";
import type { Collection, Db, Filter, MongoClient } from "mongodb";
import { type FilterName, filterNames } from "../domain/published-reads/publication-keys.ts";
import { publishableTypes } from "../domain/published-reads/publishable-types.ts";
import type {
  PublicationState,
  PublishedDocument,
  VisibleDocument,
} from "../domain/published-reads/published-document.ts";
import type { PublishedQuery } from "../domain/published-reads/read-published-page.ts";
import type { ChangeQuery } from "../domain/published-reads/read-changes.ts";
import type { Moment, ReadAt } from "../domain/published-reads/tenant-clock.ts";
import type { SiteClaim } from "../domain/sites/site-claims.ts";
import { siteType } from "../domain/sites/site-type.ts";
import type { CommittedSnapshot, SnapshotQuery } from "../domain/snapshots/snapshot-feed.ts";
import { momentOf, readAtMoment } from "./causal-session.ts";
import { keyIndexes } from "./key-indexes.ts";
import { readRows } from "./read-rows.ts";
import type { PublicationRow } from "./publication-row.ts";
import { siteColumns, siteFilter, type SiteRow, toSiteClaim } from "./site-rows.ts";
import { snapshotFilter } from "./snapshot-filter.ts";

/** Tombstones have no bytes. */
const isPublished = { document: { $exists: true } } as const;
const newestFirst = { updatedAt: -1, documentId: -1 } as const;
const snapshotColumns = { _id: 0, documentId: 1, sequence: 1, updatedAt: 1 } as const;
const documentColumns = { _id: 0, documentId: 1, updatedAt: 1, document: 1, linksStart: 1, linksEnd: 1 } as const;

const maxTimeMS = 10_000;

/** Reads what readers see. `TransitionStore` writes the rows. */
export class PublicationStore {
  static readonly indexes = {
    publications: {
      document: { key: { tenantId: 1, documentId: 1 }, unique: true },
      list: { key: { tenantId: 1, type: 1, ...newestFirst }, partialFilterExpression: isPublished },
      // Includes the type, so that changes of other types are skipped without reading their rows.
      changes: { key: { tenantId: 1, updatedAt: 1, documentId: 1, type: 1 } },
      ...keyIndexes,
    },
  } as const satisfies DatabaseIndexes;
  readonly #client: MongoClient;
  readonly #publications: Collection<PublicationRow>;

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#publications = db.collection("publications");
  }

  /**
   * Published documents of one type, newest first. At most `limit`, fewer when more would exceed
   * `bytesMax` bytes, but at least one; `hasMore` when there are others. The returned `moment` is
   * that of the read.
   *
   * @throws MomentAhead when the given `moment` is ahead of the server's clock
   */
  async list(
    tenantId: string,
    query: PublishedQuery,
    bytesMax: number,
    { moment, signal }: ReadAt,
  ): Promise<{ documents: PublishedDocument[]; hasMore: boolean; moment: Moment }> {
    return readAtMoment(this.#client, moment, async (session) => {
      const cursor = this.#publications
        .find(listFilter(tenantId, query), { session, signal, maxTimeMS })
        .hint(indexFor(query).key)
        .sort(newestFirst)
        .limit(query.limit + 1)
        .batchSize(query.limit + 1)
        .project<DocumentRow>(documentColumns);
      const bytesOf = ({ document }: DocumentRow) => document.length();
      const { rows, hasMore } = await readRows(cursor, { rowsMax: query.limit, bytesMax, bytesOf });
      return { documents: rows.map(toPublished), hasMore, moment: momentOf(session) ?? 0n };
    });
  }

  /**
   * The newest snapshot of each document of a tenant, ordered by commit and document. Publications
   * and tombstones hold the sequence of the snapshot that they were made with.
   */
  async listLatestSnapshots(tenantId: string, query: SnapshotQuery, signal: AbortSignal): Promise<CommittedSnapshot[]> {
    const rows = await this.#publications
      .find(snapshotFilter(tenantId, "updatedAt", query), { signal, maxTimeMS })
      .sort({ updatedAt: 1, documentId: 1 })
      .limit(query.limit)
      .project<Pick<PublicationRow, "documentId" | "sequence" | "updatedAt">>(snapshotColumns)
      .toArray();
    return rows.map(({ documentId, sequence, updatedAt }) => ({
      tenantId,
      documentId,
      sequence,
      committedAt: updatedAt,
    }));
  }

  /** The newest publication or withdrawal of a document; undefined when it was never published. */
  async find(tenantId: string, documentId: string, signal: AbortSignal): Promise<PublicationState | undefined> {
    const row = await this.#publications.findOne(
      { tenantId, documentId },
      { projection: { _id: 0 }, signal, maxTimeMS },
    );
    return row ? fromPublicationRow(row) : undefined;
  }

  /**
   * The newest publication or withdrawal of several documents, in any order, as many as fit into
   * `bytesMax`, but at least one; `complete` when none was left out.
   */
  async findAll(
    tenantId: string,
    documentIds: readonly string[],
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<{ states: PublicationState[]; complete: boolean }> {
    const filter = { tenantId, documentId: { $in: [...documentIds] } };
    const cursor = this.#publications.find(filter, { projection: { _id: 0 }, signal, maxTimeMS });
    const { rows, hasMore } = await readRows(cursor, { rowsMax: documentIds.length, bytesMax, bytesOf: documentBytes });
    return { states: rows.map(fromPublicationRow), complete: !hasMore };
  }

  /** The slug of a published document; undefined when it has none or is not published. */
  async slugOf(tenantId: string, type: string, documentId: string, moment?: Moment): Promise<string | undefined> {
    const filter = { tenantId, documentId, type };
    const row = await readAtMoment(this.#client, moment, (session) =>
      this.#publications.findOne(filter, { projection: { slug: 1 }, session, maxTimeMS }),
    );
    return row?.slug;
  }

  async slugHolder(tenantId: string, type: string, slug: string, signal?: AbortSignal): Promise<string | undefined> {
    const options = { projection: { documentId: 1 }, ...(signal ? { signal } : {}), maxTimeMS };
    const row = await this.#publications.findOne({ tenantId, type, slug }, options);
    return row?.documentId;
  }

  /**
   * Those of the documents that are published, in any order; those beyond `bytesMax` are left out.
   */
  async findVisible(
    tenantId: string,
    documentIds: readonly string[],
    bytesMax: number,
    { moment, signal }: ReadAt,
  ): Promise<VisibleDocument[]> {
    const filter = { tenantId, documentId: { $in: [...documentIds] }, ...isPublished };
    return readAtMoment(this.#client, moment, async (session) => {
      const cursor = this.#publications.find(filter, { projection: { _id: 0 }, session, signal, maxTimeMS });
      const { rows } = await readRows(cursor, { rowsMax: documentIds.length, bytesMax, bytesOf: documentBytes });
      return rows.flatMap(visibleOf);
    });
  }

  /** Published sites that have one of the wanted hosts, and the primary site if that is wanted. */
  async siteClaims(tenantId: string, wanted: SiteClaim, signal?: AbortSignal): Promise<SiteClaim[]> {
    const options = { ...(signal ? { signal } : {}), maxTimeMS };
    const rows = this.#publications.find(siteFilter(tenantId, [wanted]), options).project<SiteRow>(siteColumns);
    return (await rows.toArray()).map(toSiteClaim);
  }

  async findSiteOf(tenantId: string, host: string, signal: AbortSignal): Promise<VisibleDocument | undefined> {
    return this.#findSite({ tenantId, host }, signal);
  }

  /** The primary published site, or the only one; undefined without either. */
  async findMainSite(tenantId: string, signal: AbortSignal): Promise<VisibleDocument | undefined> {
    const primary = await this.#findSite({ tenantId, primary: "true" }, signal);
    if (primary) return primary;
    // The sites are read without their content, which may be a megabyte each.
    const rows = await this.#publications
      .find({ tenantId, type: siteType, ...isPublished }, { signal, maxTimeMS })
      .hint(PublicationStore.indexes.publications.list.key)
      .limit(2)
      .project<Pick<PublicationRow, "documentId">>({ _id: 0, documentId: 1 })
      .toArray();
    const [only, ...others] = rows;
    return only && others.length === 0 ? this.#findSite({ tenantId, documentId: only.documentId }, signal) : undefined;
  }

  async #findSite(filter: Filter<PublicationRow>, signal: AbortSignal): Promise<VisibleDocument | undefined> {
    const row = await this.#publications.findOne(filter, { projection: { _id: 0 }, signal, maxTimeMS });
    return row ? visibleOf(row)[0] : undefined;
  }

  /** Publications and tombstones, oldest first, limited as in `list`. */
  async listChanges(
    tenantId: string,
    query: ChangeQuery,
    bytesMax: number,
    { moment, signal }: ReadAt,
  ): Promise<{ changes: PublicationState[]; hasMore: boolean }> {
    return readAtMoment(this.#client, moment, async (session) => {
      const cursor = this.#publications
        .find(changeFilter(tenantId, query), { projection: { _id: 0 }, session, signal, maxTimeMS })
        .hint(PublicationStore.indexes.publications.changes.key)
        .sort({ updatedAt: 1, documentId: 1 })
        .limit(query.limit + 1)
        .batchSize(query.limit + 1);
      const { rows, hasMore } = await readRows(cursor, { rowsMax: query.limit, bytesMax, bytesOf: documentBytes });
      return { changes: rows.map(fromPublicationRow), hasMore };
    });
  }
}

function toPublished({ document, ...row }: DocumentRow): PublishedDocument {
  return { ...row, bytes: document.value() };
}

function documentBytes({ document }: PublicationRow): number {
  return document?.length() ?? 0;
}

type DocumentRow = Pick<PublicationRow, "documentId" | "updatedAt"> &
  Required<Pick<PublicationRow, "document" | "linksStart" | "linksEnd">>;

/**
 * `$nor` excludes the documents with the position's time that an earlier page has shown. An `$or`
 * of two ranges would make the planner merge two scans; the one range here is one scan that starts
 * at the position.
 */
function listFilter(tenantId: string, query: PublishedQuery): Filter<PublicationRow> {
  const { type, updatedSince, after, filter } = query;
  const range = {
    ...(updatedSince ? { $gte: updatedSince } : {}),
    ...(after ? { $lte: after.updatedAt } : {}),
  };
  return {
    tenantId,
    type,
    ...isPublished,
    ...Object.fromEntries(filterNames.flatMap((name) => criterion(name, filter[name]))),
    ...(Object.keys(range).length > 0 ? { updatedAt: range } : {}),
    ...(after ? { $nor: [{ updatedAt: after.updatedAt, documentId: { $gte: after.documentId } }] } : {}),
  };
}

function criterion(name: FilterName, value: string | readonly string[] | undefined): [string, unknown][] {
  if (value === undefined) return [];
  return [[name, typeof value === "string" ? value : { $in: [...value] }]];
}

/**
 * The index of the query's narrowest filter, or `list` without a filter. All of these indexes keep
 * the order of the page, except a unique key's, which finds a single document.
 */
function indexFor({ filter }: PublishedQuery): Index {
  const narrowest = filterNames.find((name) => filter[name] !== undefined);
  return PublicationStore.indexes.publications[narrowest ?? "list"];
}

/**
 * The scan starts at the reader's position. `$nor` excludes the changes with the position's time
 * that the reader has seen, and tombstones from before the reader began.
 */
function changeFilter(tenantId: string, { types, after, began }: ChangeQuery): Filter<PublicationRow> {
  return {
    tenantId,
    updatedAt: { $gte: after.updatedAt },
    type: { $in: types.filter((type) => publishableTypes.some((publishable) => publishable === type)) },
    $nor: [
      { updatedAt: after.updatedAt, documentId: { $lte: after.documentId } },
      { document: { $exists: false }, updatedAt: { $lte: began } },
    ],
  };
}

function fromPublicationRow(row: PublicationRow): PublicationState {
  const { documentId, type, version, sequence, updatedAt, document, linksStart, linksEnd } = row;
  const state = { documentId, type, version, sequence, updatedAt };
  if (!document || linksStart === undefined || linksEnd === undefined) return state;
  return { ...state, bytes: document.value(), linksStart, linksEnd };
}

function visibleOf(row: PublicationRow): VisibleDocument[] {
  const { bytes, linksStart, linksEnd, ...state } = fromPublicationRow(row);
  if (!bytes || linksStart === undefined || linksEnd === undefined) return [];
  return [{ ...state, bytes, linksStart, linksEnd }];
}
