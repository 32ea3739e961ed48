import type { MethodImpl } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { readSite, type GetPublishedSiteDeps } from "../../domain/published-reads/read-site.ts";

export function getPublishedSite(
  deps: GetPublishedSiteDeps,
): MethodImpl<typeof PublishedDocumentService.method.getPublishedSite> {
  return async ({ tenantId, host, ifNoneMatch }, { signal }) =>
    readSite(deps, requireTenantId(tenantId), { host, ifNoneMatch }, signal);
}
