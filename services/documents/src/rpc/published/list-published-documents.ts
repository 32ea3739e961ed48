import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type {
  ListPublishedDocumentsRequest,
  PublishedDocumentService,
  PublishedFilter,
} from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import { mapFilters } from "../../domain/published-reads/publication-keys.ts";
import { isPublishableType } from "../../domain/published-reads/publishable-types.ts";
import {
  type ListPublishedDocumentsDeps,
  type PageRequest,
  readPublishedPage,
} from "../../domain/published-reads/read-published-page.ts";
import type { RequestedFilter } from "../../domain/published-reads/resolve-filter.ts";
import { pageSize, documentPages } from "../requests.ts";

export function listPublishedDocuments(
  deps: ListPublishedDocumentsDeps,
): MethodImpl<typeof PublishedDocumentService.method.listPublishedDocuments> {
  return async (request, { signal }) => {
    const { tenantId, page } = fromListRequest(request);
    return readPublishedPage(deps, tenantId, page, signal);
  };
}

/**
 * Throws `invalid` for a type that readers may not see, a limit above 200, or a malformed tenant
 * id.
 */
export function fromListRequest(request: ListPublishedDocumentsRequest): { tenantId: string; page: PageRequest } {
  const { type, updatedSince, cursor, refuseForeignCursor, ifNoneMatch, knownTag } = request;
  const { includeLinks, includeLinked } = request;
  const shown = { includeLinks, includeLinked };
  if (!isPublishableType(type)) throw new DomainError("invalid", "type is not a publishable one");
  const limit = pageSize(request.limit, documentPages);
  const since = updatedSince ? { updatedSince: timestampDate(updatedSince) } : {};
  const filter = fromFilter(request.filter);
  const page = { type, limit, cursor, refuseForeignCursor, ifNoneMatch, knownTag, ...shown, filter, ...since };
  return { tenantId: requireTenantId(request.tenantId), page };
}

type FilterMessage = Omit<PublishedFilter, "$typeName" | "$unknown">;

/**
 * Does not compile unless `PublishedFilter` of the .proto and the table in `publication-keys.ts`
 * have the same filters: one that is missing in the table would be ignored, and the page would show
 * too much.
 */
function fromFilter(message: FilterMessage | undefined): RequestedFilter {
  const requested: Record<keyof FilterMessage, string | undefined> = mapFilters((name) => message?.[name] || undefined);
  return requested;
}
