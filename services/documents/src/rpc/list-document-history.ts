import type { MethodImpl } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireDocumentId, requireTenantId } from "../domain/document/require-ids.ts";
import type { HistoryEntry } from "../domain/document/revision.ts";
import { type HistoryDeps, type HistoryPosition, listHistory } from "../domain/editing/document-history.ts";
import { fromPageToken, pageLimit, toPageToken } from "./page-request.ts";

/** Says who did what to a document, and when. */
export function listDocumentHistory(deps: HistoryDeps): MethodImpl<typeof DocumentService.method.listDocumentHistory> {
  return async (request, { signal }) => {
    const reference = {
      tenantId: requireTenantId(request.tenantId),
      documentId: requireDocumentId(request.documentId),
    };
    const before = fromToken(request.pageToken);
    const page = { limit: pageLimit(request.limit), ...(before ? { before } : {}), signal };
    const { entries, next } = await listHistory(deps, reference, page);
    return {
      entries: entries.map(toEntry),
      nextPageToken: next ? toPageToken(next.at.getTime(), next.entryId) : "",
    };
  };
}

function fromToken(token: string): HistoryPosition | undefined {
  const [time, entryId] = fromPageToken(token, /^(\d{1,15}) ([0-9a-f]{24})$/) ?? [];
  return entryId === undefined ? undefined : { at: new Date(Number(time)), entryId };
}

function toEntry({ at, by, transition = "", version, from, to }: HistoryEntry) {
  return { at: timestampFromDate(at), by: { ...by }, transition, version: BigInt(version), from, to };
}
