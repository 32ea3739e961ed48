import type { MethodImpl } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import type { HistoryEntry } from "../../domain/document/revision.ts";
import {
  type ListDocumentHistoryDeps,
  type HistoryPosition,
  listHistory,
} from "../../domain/editing/document-history.ts";
import { documentPages, pagePosition, pageSize } from "../requests.ts";

export function listDocumentHistory(
  deps: ListDocumentHistoryDeps,
): MethodImpl<typeof DocumentService.method.listDocumentHistory> {
  return async (request, { signal }) => {
    const reference = {
      tenantId: requireTenantId(request.tenantId),
      documentId: requireDocumentId(request.documentId),
    };
    const before = pagePosition(request.pageToken, toPosition);
    const page = { limit: pageSize(request.limit, documentPages), ...(before ? { before } : {}), signal };
    const { entries, next } = await listHistory(deps, reference, page);
    return {
      entries: entries.map(toEntry),
      nextPageToken: next ? encodeOpaqueToken([next.at.getTime(), next.entryId]) : "",
    };
  };
}

function toPosition([time, entryId, ...more]: readonly (string | number)[]): HistoryPosition | undefined {
  if (!isEpochMs(time) || typeof entryId !== "string" || more.length > 0) return undefined;
  return /^[0-9a-f]{24}$/.test(entryId) ? { at: new Date(time), entryId } : undefined;
}

function toEntry({ at, by, transition = "", version, from, to }: HistoryEntry) {
  return {
    at: timestampFromDate(at),
    by: { ...by },
    transition,
    version: BigInt(version),
    fromStatus: from,
    toStatus: to,
  };
}
