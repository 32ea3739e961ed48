import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { readRequestToken } from "../../domain/document/request-token.ts";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import { type UpdateDocumentDeps, updateDocument as update } from "../../domain/editing/update-document.ts";
import { toDocument } from "./messages.ts";
import { callingActor, requireVersionNumber } from "../requests.ts";

export function updateDocument(deps: UpdateDocumentDeps): MethodImpl<typeof DocumentService.method.updateDocument> {
  return async (request, context) => {
    const requestToken = readRequestToken(request.requestToken);
    const head = await update(deps, {
      tenantId: requireTenantId(request.tenantId),
      documentId: requireDocumentId(request.documentId),
      expectedVersion: requireVersionNumber("expected_version", request.expectedVersion),
      json: request.documentJson,
      ...(requestToken === undefined ? {} : { requestToken }),
      by: callingActor(context),
      signal: context.signal,
    });
    return { document: toDocument(head) };
  };
}
