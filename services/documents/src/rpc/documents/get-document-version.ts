import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { assembleForEditors } from "../../domain/document/assemble-document.ts";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import { getVersion, type GetDocumentVersionDeps } from "../../domain/editing/document-versions.ts";
import { titleText } from "../../domain/document/title-text.ts";
import { toDocumentVersion } from "./messages.ts";
import { requireVersionNumber } from "../requests.ts";

export function getDocumentVersion(
  deps: GetDocumentVersionDeps,
): MethodImpl<typeof DocumentService.method.getDocumentVersion> {
  return async (request, { signal }) => {
    const documentId = requireDocumentId(request.documentId);
    const reference = { tenantId: requireTenantId(request.tenantId), documentId };
    const number = requireVersionNumber("version", request.version);
    const { version, type } = await getVersion(deps, reference, number, { signal });
    const { status } = version;
    return {
      version: toDocumentVersion({ ...version, title: titleText(version.title) }),
      documentJson: assembleForEditors(version, { documentId, type, status, version: version.version }),
    };
  };
}
