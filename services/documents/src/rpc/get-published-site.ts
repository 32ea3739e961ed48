import type { MethodImpl } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { requireTenantId } from "../domain/document/require-ids.ts";
import { readSite, type SiteDeps } from "../domain/publication/read-site.ts";

/** The configuration of one site in one object. */
export function getPublishedSite(deps: SiteDeps): MethodImpl<typeof PublishedDocumentService.method.getPublishedSite> {
  return async ({ tenantId, host, ifNoneMatch }, { signal }) =>
    readSite(deps, requireTenantId(tenantId), { host, ifNoneMatch }, signal);
}
