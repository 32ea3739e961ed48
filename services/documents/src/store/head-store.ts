import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection, Db, Filter } from "mongodb";
import type { Head, HeadSummary, ListOrder, ListPosition, NewDocument } from "../domain/document/document.ts";
import { titleText } from "../domain/document/title-text.ts";
import type { DocumentReference, Intake, IntakeStore } from "../domain/intake/take-in.ts";
import { fromHeadRow, toHeadRow } from "./head-row.ts";
import type { HeadRow } from "./rows.ts";

const intakeColumns = { _id: 0, tenantId: 1, documentId: 1, intakeDigest: 1, intakeToken: 1 } as const;

const filtered = { type: 1, status: 1, "changedBy.actor": 1 } as const;
const countMax = 100_000;
const maxTimeMS = 5_000;

const summaryColumns = {
  _id: 0,
  documentId: 1,
  type: 1,
  version: 1,
  status: 1,
  title: 1,
  lastPublished: 1,
  createdAt: 1,
  changedAt: 1,
} as const;

export interface ListFilter {
  readonly type?: string;
  readonly status?: string;
  /** The actor who wrote the newest version. */
  readonly actor?: string;
  readonly changedSince?: Date;
}

interface ListQuery extends ListFilter {
  readonly order: ListOrder;
  readonly limit: number;
  /** Position of the last document of the page before. */
  readonly after?: ListPosition;
  readonly signal?: AbortSignal;
}

export class HeadStore implements IntakeStore {
  /**
   * Lists have one index for each order. One more for each filter would add to the cost of every
   * write of a head. So a list whose filter matches few documents walks the index entries of other
   * documents, too. It reads no rows of these, because the indexes contain the filtered columns.
   */
  static readonly indexes = {
    heads: {
      document: { key: { tenantId: 1, documentId: 1 }, unique: true },
      changed: { key: { tenantId: 1, changedAt: -1, documentId: -1, ...filtered } },
      created: { key: { tenantId: 1, createdAt: -1, documentId: -1, ...filtered, changedAt: 1 } },
    },
  } as const satisfies DatabaseIndexes;
  readonly #heads: Collection<HeadRow>;

  constructor(db: Db) {
    this.#heads = db.collection("heads");
  }

  /**
   * Stores all documents whose id is free, in one write. Returns the positions in `documents` of
   * the others.
   */
  async insert(documents: readonly NewDocument[]): Promise<Set<number>> {
    try {
      await this.#heads.insertMany(documents.map(toHeadRow), { ordered: false });
      return new Set();
    } catch (error) {
      return duplicatePositions(error);
    }
  }

  async findIntakes(references: readonly DocumentReference[]): Promise<Intake[]> {
    const filter = { $or: references.map(({ tenantId, documentId }) => ({ tenantId, documentId })) };
    const rows = await this.#heads.find(filter).project<IntakeRow>(intakeColumns).toArray();
    return rows.map(({ intakeDigest, ...row }) => Object.assign(row, { intakeDigest: intakeDigest.value() }));
  }

  async find(tenantId: string, documentId: string, options: { signal?: AbortSignal } = {}): Promise<Head | undefined> {
    const row = await this.#heads.findOne({ tenantId, documentId }, { ...options, projection: { _id: 0 } });
    return row ? fromHeadRow(row) : undefined;
  }

  /** Documents without their content: last changed first or last created first, by `order`. */
  async list(tenantId: string, query: ListQuery): Promise<HeadSummary[]> {
    const { order, limit, after, signal } = query;
    const column = `${order}At` as const;
    const rows = await this.#heads
      .find(
        { ...listFilter(tenantId, query), ...(after ? behind(column, after, query) : {}) },
        { ...(signal ? { signal } : {}), maxTimeMS },
      )
      .hint(HeadStore.indexes.heads[order].key)
      .sort({ [column]: -1, documentId: -1 })
      .limit(limit)
      .project<SummaryRow>(summaryColumns)
      .toArray();
    return rows.map(fromSummaryRow);
  }

  /** Number of documents that match; 100,001 stands for every number above 100,000. */
  async count(tenantId: string, filter: ListFilter, signal?: AbortSignal): Promise<number> {
    const options = {
      ...(signal ? { signal } : {}),
      maxTimeMS,
      limit: countMax + 1,
      hint: HeadStore.indexes.heads.changed.key,
    };
    return this.#heads.countDocuments(listFilter(tenantId, filter), options);
  }
}

function listFilter(tenantId: string, { type, status, actor, changedSince }: ListFilter): Filter<HeadRow> {
  return {
    tenantId,
    ...(type === undefined ? {} : { type }),
    ...(status === undefined ? {} : { status }),
    ...(actor === undefined ? {} : { "changedBy.actor": actor }),
    ...(changedSince === undefined ? {} : { changedAt: { $gte: changedSince } }),
  };
}

type IntakeRow = Pick<HeadRow, "tenantId" | "documentId" | "intakeDigest" | "intakeToken">;
type SummaryRow = Pick<
  HeadRow,
  "documentId" | "type" | "version" | "status" | "title" | "lastPublished" | "createdAt" | "changedAt"
>;

function fromSummaryRow({ title, ...row }: SummaryRow): HeadSummary {
  return { ...row, title: titleText(title.value()) };
}

/**
 * Documents behind a position. The filter is one range of times, from which `$nor` excludes the
 * documents with the position's time that are not behind it. Two ranges would be two scans to
 * merge.
 */
function behind(
  column: "changedAt" | "createdAt",
  { at, documentId }: ListPosition,
  { changedSince }: ListFilter,
): Filter<HeadRow> {
  const since = column === "changedAt" && changedSince ? { $gte: changedSince } : {};
  return { [column]: { ...since, $lte: at }, $nor: [{ [column]: at, documentId: { $gte: documentId } }] };
}
