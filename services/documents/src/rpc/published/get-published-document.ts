import type { MethodImpl } from "@connectrpc/connect";
import type { GetPublishedDocumentRequest } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import {
  type GetPublishedDocumentDeps,
  type DocumentName,
  readDocument,
} from "../../domain/published-reads/read-document.ts";

export function getPublishedDocument(
  deps: GetPublishedDocumentDeps,
): MethodImpl<typeof PublishedDocumentService.method.getPublishedDocument> {
  return async ({ tenantId, by, includeLinks, ifNoneMatch }, { signal }) =>
    readDocument(deps, requireTenantId(tenantId), fromBy(by), { includeLinks, ifNoneMatch }, signal);
}

/** The id or slug by which a request asks for a document. Throws `invalid` for a malformed id. */
export function fromBy(by: GetPublishedDocumentRequest["by"]): DocumentName {
  if (by.case === "slug") return { type: by.value.type, slug: by.value.slug };
  return { documentId: requireDocumentId(by.value ?? "") };
}
