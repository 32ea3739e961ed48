import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireDocumentId, requireTenantId } from "../domain/document/require-ids.ts";
import { type EditDeps, updateDocument as update } from "../domain/editing/update-document.ts";
import { callingActor } from "./calling-actor.ts";
import { toDocument } from "./document-message.ts";
import { requestedVersion } from "./requested-version.ts";

/** Writes the next version of a document. */
export function updateDocument(deps: EditDeps): MethodImpl<typeof DocumentService.method.updateDocument> {
  return async (request, context) => {
    const head = await update(deps, {
      tenantId: requireTenantId(request.tenantId),
      documentId: requireDocumentId(request.documentId),
      expectedVersion: requestedVersion("expected_version", request.expectedVersion),
      json: request.documentJson,
      by: callingActor(context),
    });
    return { document: toDocument(head) };
  };
}
