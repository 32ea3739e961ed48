import { DomainError } from "@vidimus/kit/errors";
import type { DatabaseIndexes } from "@vidimus/kit/mongo/indexes";
import { isDuplicateKey } from "@vidimus/kit/mongo/mongo-errors";
import type { Collection, Db, MongoClient } from "mongodb";
import { type Head, initialStatus } from "../domain/document/document.ts";
import { requestTokenReused } from "../domain/document/request-token.ts";
import type { DocumentVersion, Revision, VersionSummary } from "../domain/document/revision.ts";
import { AbandonedTransactions } from "./abandoned-transactions.ts";
import { fromHeadRow, toPartsRow } from "./head-row.ts";
import type { HeadRow, HistoryRow, VersionRow } from "./rows.ts";
import { runTransaction } from "./run-transaction.ts";
import { fromVersionRow, fromVersionSummaryRow, toVersionRow, type VersionSummaryRow } from "./version-row.ts";

const summaryColumns = { _id: 0, version: 1, status: 1, title: 1, schemaGeneration: 1, createdAt: 1, createdBy: 1 };

interface ReadOptions {
  signal?: AbortSignal;
}

/** Writes edits, and keeps the older versions of documents. */
export class RevisionStore {
  static readonly indexes = {
    versions: { version: { key: { tenantId: 1, documentId: 1, version: 1 }, unique: true } },
    history: {
      order: { key: { tenantId: 1, documentId: 1, at: 1, _id: 1 } },
      request: {
        key: { tenantId: 1, documentId: 1, "request.token": 1 },
        unique: true,
        // Otherwise the index would refuse a second row without a token.
        partialFilterExpression: { "request.token": { $exists: true } },
      },
    },
  } as const satisfies DatabaseIndexes;
  readonly #client: MongoClient;
  readonly #abandoned: AbandonedTransactions;
  readonly #heads: Collection<HeadRow>;
  readonly #versions: Collection<VersionRow>;
  readonly #history: Collection<HistoryRow>;

  constructor(client: MongoClient, db: Db) {
    this.#client = client;
    this.#abandoned = new AbandonedTransactions(client);
    this.#heads = db.collection("heads");
    this.#versions = db.collection("versions");
    this.#history = db.collection("history");
  }

  /**
   * Writes the version that `decide` makes of the head as the next one, in one transaction that
   * also stores the old version and a history entry with the request's token. `decide` may run
   * several times, and refuses by throwing.
   */
  async revise(
    tenantId: string,
    documentId: string,
    decide: (head: Head) => Revision,
    requestToken?: string,
  ): Promise<Head> {
    return runTransaction(this.#client, this.#abandoned, async (session) => {
      const row = await this.#heads.findOne({ tenantId, documentId }, { projection: { _id: 0 }, session });
      if (!row) throw new DomainError("not_found", `document ${documentId} does not exist`);
      const revised = toRevisedRow(row, decide(fromHeadRow(row)));
      // The head is written first: of two writers one then gets its conflict before it has written
      // anything else.
      await this.#heads.replaceOne({ tenantId, documentId, version: row.version }, revised, { session });
      await this.#versions.insertOne(toVersionRow(row), { session });
      await this.#history.insertOne(toEditRow(row, revised, requestToken), { session }).catch((error: unknown) => {
        // A used request token is no passing conflict, so the transaction must not be repeated.
        throw requestToken !== undefined && isDuplicateKey(error) ? requestTokenReused() : error;
      });
      return fromHeadRow(revised);
    });
  }

  /** Versions other than the head, newest first; only those below `before` when it is given. */
  async listVersions(
    tenantId: string,
    documentId: string,
    page: { limit: number; before?: number } & ReadOptions,
  ): Promise<VersionSummary[]> {
    const { limit, before, ...options } = page;
    const below = before === undefined ? {} : { version: { $lt: before } };
    const rows = this.#versions
      .find({ tenantId, documentId, ...below }, { ...options, maxTimeMS: 5_000 })
      .sort({ version: -1 })
      .limit(limit)
      .project<VersionSummaryRow>(summaryColumns);
    return (await rows.toArray()).map(fromVersionSummaryRow);
  }

  async findVersion(
    tenantId: string,
    documentId: string,
    version: number,
    options: ReadOptions = {},
  ): Promise<DocumentVersion | undefined> {
    const row = await this.#versions.findOne({ tenantId, documentId, version }, { ...options });
    return row ? fromVersionRow(row) : undefined;
  }
}

function toRevisedRow(row: HeadRow, revision: Revision): HeadRow {
  const { titleRich: _, ...kept } = row;
  return {
    ...kept,
    ...toPartsRow(revision),
    version: row.version + 1,
    status: initialStatus,
    schemaGeneration: revision.schemaGeneration,
    changedAt: revision.writtenAt,
    changedBy: { ...revision.writtenBy },
    writtenAt: revision.writtenAt,
  };
}

function toEditRow({ tenantId, documentId, status }: HeadRow, revised: HeadRow, token?: string): HistoryRow {
  const { version, changedAt: at, changedBy: by, lastPublished } = revised;
  const request = token === undefined ? {} : { request: { token, ...(lastPublished ? { lastPublished } : {}) } };
  return { tenantId, documentId, at, by, version, from: status, to: revised.status, ...request };
}
