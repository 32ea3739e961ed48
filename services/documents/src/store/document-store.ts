import { duplicatePositions } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection, Db } from "mongodb";
import type { Head, HeadSummary, ListPosition, NewDocument } from "../domain/document/document.ts";
import { titleText } from "../domain/document/title-text.ts";
import type { DocumentReference, Intake, IntakeStore } from "../domain/intake/take-in.ts";
import { fromHeadRow, fromLastPublished, toHeadRow } from "./head-row.ts";
import type { HeadRow } from "./rows.ts";

const intakeColumns = { _id: 0, tenantId: 1, documentId: 1, intakeDigest: 1, intakeToken: 1 } as const;

/**
 * Type and status stand in it so that a list passes over what it does not show without reading it.
 */
const listIndex = { tenantId: 1, changedAt: -1, documentId: -1, type: 1, status: 1 } as const;
const summaryColumns = {
  _id: 0,
  documentId: 1,
  type: 1,
  version: 1,
  status: 1,
  title: 1,
  lastPublished: 1,
  live: 1,
  createdAt: 1,
  changedAt: 1,
} as const;

/** What a list of documents asks for. */
interface ListQuery {
  type?: string;
  status?: string;
  limit: number;
  /** Only what changed before it, or at the same time and with a smaller id. */
  after?: ListPosition;
  signal?: AbortSignal;
}

/** Keeps the head of every document. */
export class DocumentStore implements IntakeStore {
  readonly #heads: Collection<HeadRow>;

  constructor(db: Db) {
    this.#heads = db.collection("heads");
  }

  /** Makes the indexes. Idempotent. */
  async ensureIndexes(): Promise<void> {
    await this.#heads.createIndex({ tenantId: 1, documentId: 1 }, { unique: true });
    await this.#heads.createIndex(listIndex);
  }

  /**
   * Stores all documents whose id is free, in one write, and answers the positions of those whose
   * id is not.
   */
  async insert(documents: readonly NewDocument[]): Promise<Set<number>> {
    try {
      await this.#heads.insertMany(documents.map(toHeadRow), { ordered: false });
      return new Set();
    } catch (error) {
      return duplicatePositions(error);
    }
  }

  /** The intakes behind these ids, as far as there are any. */
  async findIntakes(references: readonly DocumentReference[]): Promise<Intake[]> {
    const filter = { $or: references.map(({ tenantId, documentId }) => ({ tenantId, documentId })) };
    const rows = await this.#heads.find(filter).project<IntakeRow>(intakeColumns).toArray();
    return rows.map(({ intakeDigest, ...row }) => Object.assign(row, { intakeDigest: intakeDigest.value() }));
  }

  /** The head of a document. */
  async find(tenantId: string, documentId: string, options: { signal?: AbortSignal } = {}): Promise<Head | undefined> {
    const row = await this.#heads.findOne({ tenantId, documentId }, { ...options, projection: { _id: 0 } });
    return row ? fromHeadRow(row) : undefined;
  }

  /** Documents without their content, last changed first. */
  async list(tenantId: string, { type, status, limit, after, signal }: ListQuery): Promise<HeadSummary[]> {
    const rows = await this.#heads
      .find(
        {
          tenantId,
          ...(type === undefined ? {} : { type }),
          ...(status === undefined ? {} : { status }),
          ...(after ? behind(after) : {}),
        },
        { ...(signal ? { signal } : {}), maxTimeMS: 5_000 },
      )
      .hint(listIndex)
      .sort({ changedAt: -1, documentId: -1 })
      .limit(limit)
      .project<SummaryRow>(summaryColumns)
      .toArray();
    return rows.map(fromSummaryRow);
  }
}

type IntakeRow = Pick<HeadRow, "tenantId" | "documentId" | "intakeDigest" | "intakeToken">;
type SummaryRow = Pick<
  HeadRow,
  "documentId" | "type" | "version" | "status" | "title" | "lastPublished" | "live" | "createdAt" | "changedAt"
>;

function fromSummaryRow({ title, lastPublished, live, ...row }: SummaryRow): HeadSummary {
  const columns = { ...(lastPublished ? { lastPublished } : {}), ...(live ? { live } : {}) };
  return { ...row, title: titleText(title.value()), ...fromLastPublished(columns) };
}

/** As one range with its ties taken out: written as two ranges, it would be two scans to merge. */
function behind({ changedAt, documentId }: ListPosition) {
  return { changedAt: { $lte: changedAt }, $nor: [{ changedAt, documentId: { $gte: documentId } }] };
}
