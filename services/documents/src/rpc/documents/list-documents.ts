import type { MethodImpl } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import type { HeadSummary, ListPosition } from "../../domain/document/document.ts";
import { parseUuid } from "@vidimus/kit/ids";
import { encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import { requireTenantId } from "@vidimus/kit/ids";
import type { DocumentStore } from "../../store/document-store.ts";
import { toLastPublished } from "./messages.ts";
import { editorPages, pagePlace, pageSize } from "../requests.ts";

/** The store of heads. */
export interface ListDocumentsDeps {
  documents: Pick<DocumentStore, "list">;
}

/** Lists a tenant's documents, last changed first. */
export function listDocuments({
  documents,
}: ListDocumentsDeps): MethodImpl<typeof DocumentService.method.listDocuments> {
  return async (request, { signal }) => {
    const limit = pageSize(request.limit, editorPages);
    const after = pagePlace(request.pageToken, toPosition);
    const found = await documents.list(requireTenantId(request.tenantId), {
      ...(request.type === "" ? {} : { type: request.type }),
      ...(request.status === "" ? {} : { status: request.status }),
      ...(after ? { after } : {}),
      limit: limit + 1,
      signal,
    });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const nextPageToken =
      found.length > limit && last ? encodeOpaqueToken([last.changedAt.getTime(), last.documentId]) : "";
    return { documents: page.map(toSummary), nextPageToken };
  };
}

function toPosition([time, id, ...more]: readonly (string | number)[]): ListPosition | undefined {
  const documentId = typeof id === "string" ? parseUuid(id) : undefined;
  if (documentId === undefined || !isEpochMs(time) || more.length > 0) return undefined;
  return { changedAt: new Date(time), documentId };
}

function toSummary({ version, lastPublished, createdAt, changedAt, ...head }: HeadSummary) {
  return {
    ...head,
    version: BigInt(version),
    ...(lastPublished ? { lastPublished: toLastPublished(lastPublished) } : {}),
    createdAt: timestampFromDate(createdAt),
    changedAt: timestampFromDate(changedAt),
  };
}
