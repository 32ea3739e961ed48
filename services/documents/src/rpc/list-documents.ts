import type { MethodImpl } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import type { HeadSummary, ListPosition } from "../domain/document/document.ts";
import { requireTenantId } from "../domain/document/require-ids.ts";
import type { DocumentStore } from "../store/document-store.ts";
import { toLiveVersion } from "./document-message.ts";
import { fromPageToken, pageLimit, toPageToken } from "./page-request.ts";

/** What ListDocuments needs. */
export interface ListDocumentsDeps {
  documents: Pick<DocumentStore, "list">;
}

/** Walks a tenant's documents, last changed first. */
export function listDocuments({
  documents,
}: ListDocumentsDeps): MethodImpl<typeof DocumentService.method.listDocuments> {
  return async (request, { signal }) => {
    const limit = pageLimit(request.limit);
    const after = fromToken(request.pageToken);
    const found = await documents.list(requireTenantId(request.tenantId), {
      ...(request.type === "" ? {} : { type: request.type }),
      ...(request.status === "" ? {} : { status: request.status }),
      ...(after ? { after } : {}),
      limit: limit + 1,
      signal,
    });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const nextPageToken = found.length > limit && last ? toPageToken(last.changedAt.getTime(), last.documentId) : "";
    return { documents: page.map(toSummary), nextPageToken };
  };
}

function fromToken(token: string): ListPosition | undefined {
  const [time, documentId] = fromPageToken(token, /^(\d{1,15}) ([0-9a-f-]{36})$/) ?? [];
  return documentId === undefined ? undefined : { changedAt: new Date(Number(time)), documentId };
}

function toSummary({ version, live, createdAt, changedAt, ...head }: HeadSummary) {
  return {
    ...head,
    version: BigInt(version),
    ...(live ? { live: toLiveVersion(live) } : {}),
    createdAt: timestampFromDate(createdAt),
    changedAt: timestampFromDate(changedAt),
  };
}
