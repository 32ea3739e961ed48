import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireDocumentId, requireTenantId } from "../domain/document/require-ids.ts";
import { listVersions, type VersionDeps } from "../domain/editing/document-versions.ts";
import { fromPageToken, pageLimit, toPageToken } from "./page-request.ts";
import { toDocumentVersion } from "./version-message.ts";

/** Walks the versions of one document, newest first. */
export function listDocumentVersions(
  deps: VersionDeps,
): MethodImpl<typeof DocumentService.method.listDocumentVersions> {
  return async (request, { signal }) => {
    const reference = {
      tenantId: requireTenantId(request.tenantId),
      documentId: requireDocumentId(request.documentId),
    };
    const [before] = fromPageToken(request.pageToken, /^(\d{1,15})$/) ?? [];
    const { versions, hasMore } = await listVersions(deps, reference, {
      limit: pageLimit(request.limit),
      ...(before === undefined ? {} : { before: Number(before) }),
      signal,
    });
    const last = versions.at(-1);
    return {
      versions: versions.map(toDocumentVersion),
      nextPageToken: hasMore && last ? toPageToken(last.version) : "",
    };
  };
}
