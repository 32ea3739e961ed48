import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import { listVersions, type ListDocumentVersionsDeps } from "../../domain/editing/document-versions.ts";
import { toDocumentVersion } from "./messages.ts";
import { documentPages, pagePosition, pageSize } from "../requests.ts";

export function listDocumentVersions(
  deps: ListDocumentVersionsDeps,
): MethodImpl<typeof DocumentService.method.listDocumentVersions> {
  return async (request, { signal }) => {
    const reference = {
      tenantId: requireTenantId(request.tenantId),
      documentId: requireDocumentId(request.documentId),
    };
    const before = pagePosition(request.pageToken, toVersion);
    const { versions, hasMore } = await listVersions(deps, reference, {
      limit: pageSize(request.limit, documentPages),
      ...(before === undefined ? {} : { before }),
      signal,
    });
    const last = versions.at(-1);
    return {
      versions: versions.map(toDocumentVersion),
      nextPageToken: hasMore && last ? encodeOpaqueToken([last.version]) : "",
    };
  };
}

function toVersion([version, ...more]: readonly (string | number)[]): number | undefined {
  return typeof version === "number" && Number.isSafeInteger(version) && more.length === 0 ? version : undefined;
}
