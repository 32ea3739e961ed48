import { initialStatus } from "../document/document.ts";
import { type HeadReader, requireHead } from "../document/require-head.ts";
import type { HistoryEntry } from "../document/revision.ts";

export interface HistoryPosition {
  readonly at: Date;
  /** 24 hex digits. */
  readonly entryId: string;
}

export interface ListDocumentHistoryDeps {
  documents: HeadReader;
  history: {
    /**
     * Changes after intake, newest first, each with its position; with `before` only those that
     * are earlier than that position.
     */
    list(
      tenantId: string,
      documentId: string,
      page: { limit: number; before?: HistoryPosition; signal?: AbortSignal },
    ): Promise<(HistoryEntry & { position: HistoryPosition })[]>;
  };
}

/**
 * A page of a document's history, newest first; the last page ends with the intake. Throws
 * `not_found` when the document does not exist.
 */
export async function listHistory(
  { documents, history }: ListDocumentHistoryDeps,
  { tenantId, documentId }: { tenantId: string; documentId: string },
  page: { limit: number; before?: HistoryPosition; signal?: AbortSignal },
): Promise<{ entries: HistoryEntry[]; next?: HistoryPosition }> {
  const { limit, signal } = page;
  const head = await requireHead(documents, tenantId, documentId, signal ? { signal } : {});
  const found = await history.list(tenantId, documentId, page);
  const last = found.at(-1);
  if (found.length === limit && last) return { entries: found, next: last.position };
  const intake = { at: head.createdAt, by: head.createdBy, version: 1, from: "", to: initialStatus };
  return { entries: [...found, intake] };
}
