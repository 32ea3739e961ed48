import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { assembleDocument } from "../domain/document/assemble-document.ts";
import { requireDocumentId, requireTenantId } from "../domain/document/require-ids.ts";
import { getVersion, type VersionDeps } from "../domain/editing/document-versions.ts";
import { titleText } from "../domain/document/title-text.ts";
import { requestedVersion } from "./requested-version.ts";
import { toDocumentVersion } from "./version-message.ts";

/** Reads one version of a document. */
export function getDocumentVersion(deps: VersionDeps): MethodImpl<typeof DocumentService.method.getDocumentVersion> {
  return async (request, { signal }) => {
    const documentId = requireDocumentId(request.documentId);
    const reference = { tenantId: requireTenantId(request.tenantId), documentId };
    const number = requestedVersion("version", request.version);
    const { version, type } = await getVersion(deps, reference, number, { signal });
    const { status } = version;
    return {
      version: toDocumentVersion({ ...version, title: titleText(version.title) }),
      documentJson: assembleDocument(version, { documentId, type, status, version: version.version }).bytes,
    };
  };
}
