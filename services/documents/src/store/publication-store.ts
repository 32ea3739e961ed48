import type { Collection, Db, Filter } from "mongodb";
import type { PublishedDocument, PublishedQuery } from "../domain/publication/published-page.ts";
import type { PublicationRow } from "./rows.ts";

const listIndex = { tenantId: 1, type: 1, state: 1, updatedAt: -1, documentId: -1 } as const;
const documentColumns = { _id: 0, documentId: 1, updatedAt: 1, document: 1, linksStart: 1, linksEnd: 1 } as const;

/** Keeps what readers see: one row a document, its bytes or a tombstone. */
export class PublicationStore {
  readonly #publications: Collection<PublicationRow>;

  constructor(db: Db) {
    this.#publications = db.collection("publications");
  }

  /** Makes the indexes. Idempotent. */
  async ensureIndexes(): Promise<void> {
    await this.#publications.createIndex({ tenantId: 1, documentId: 1 }, { unique: true });
    await this.#publications.createIndex(listIndex);
  }

  /**
   * Published documents of one type, newest first. At most `limit`, fewer when they hold `bytesMax` bytes (one at least);
   * `hasMore` when there are others.
   */
  async list(
    tenantId: string,
    query: PublishedQuery,
    bytesMax: number,
    signal?: AbortSignal,
  ): Promise<{ documents: PublishedDocument[]; hasMore: boolean }> {
    const documents: PublishedDocument[] = [];
    let bytes = 0;
    await using cursor = this.#publications
      .find(listFilter(tenantId, query), { ...(signal ? { signal } : {}), maxTimeMS: 10_000 })
      .hint(listIndex)
      .sort({ updatedAt: -1, documentId: -1 })
      .limit(query.limit + 1)
      .batchSize(query.limit + 1)
      .project<DocumentRow>(documentColumns);
    for await (const row of cursor) {
      bytes += row.document.length();
      if (documents.length === query.limit || (documents.length > 0 && bytes > bytesMax)) {
        return { documents, hasMore: true };
      }
      documents.push({ ...row, bytes: row.document.value() });
    }
    return { documents, hasMore: false };
  }
}

type DocumentRow = Pick<PublicationRow, "documentId" | "updatedAt"> &
  Required<Pick<PublicationRow, "document" | "linksStart" | "linksEnd">>;

/**
 * `$nor` takes the ties away that a page has shown already. Written as an `$or` of two ranges the planner would merge two
 * scans; so it is one, from the place on.
 */
function listFilter(tenantId: string, { type, updatedSince, after }: PublishedQuery): Filter<PublicationRow> {
  const range = {
    ...(updatedSince ? { $gte: updatedSince } : {}),
    ...(after ? { $lte: after.updatedAt } : {}),
  };
  return {
    tenantId,
    type,
    state: "live",
    ...(Object.keys(range).length > 0 ? { updatedAt: range } : {}),
    ...(after ? { $nor: [{ updatedAt: after.updatedAt, documentId: { $gte: after.documentId } }] } : {}),
  };
}
