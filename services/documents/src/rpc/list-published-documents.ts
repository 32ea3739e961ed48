import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type {
  ListPublishedDocumentsRequest,
  PublishedDocumentService,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "../domain/document/require-ids.ts";
import { isPublishableType } from "../domain/publication/publishable-types.ts";
import { type PageDeps, type PageRequest, readPage } from "../domain/publication/published-page.ts";

const limitMax = 200;

/** One page of published documents of one type, newest first. */
export function listPublishedDocuments(
  deps: PageDeps,
): MethodImpl<typeof PublishedDocumentService.method.listPublishedDocuments> {
  return async (request, { signal }) => {
    const { tenantId, page } = fromListRequest(request);
    return readPage(deps, tenantId, page, signal);
  };
}

/** Whose page is asked for, and which. Throws `invalid`. */
export function fromListRequest(request: ListPublishedDocumentsRequest): { tenantId: string; page: PageRequest } {
  const { type, updatedSince, limit, cursor, ifNoneMatch, includeLinks } = request;
  if (!isPublishableType(type)) throw new DomainError("invalid", "type is not a publishable one");
  if (limit < 1 || limit > limitMax) throw new DomainError("invalid", `limit must be from 1 to ${limitMax}`);
  const since = updatedSince ? { updatedSince: timestampDate(updatedSince) } : {};
  const { tag = "", site = "", language = "", slug = "" } = request.filter ?? {};
  const filter = { tag, site, language, slug };
  const page = { type, limit, cursor, ifNoneMatch, includeLinks, filter, ...since };
  return { tenantId: requireTenantId(request.tenantId), page };
}
