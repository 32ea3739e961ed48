import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireDocumentId, requireTenantId } from "../domain/document/require-ids.ts";
import type { DocumentStore } from "../store/document-store.ts";
import { toDocument } from "./document-message.ts";

/** What GetDocument needs. */
export interface GetDocumentDeps {
  documents: Pick<DocumentStore, "find">;
}

/** Reads one document as editors see it. */
export function getDocument({ documents }: GetDocumentDeps): MethodImpl<typeof DocumentService.method.getDocument> {
  return async (request, { signal }) => {
    const documentId = requireDocumentId(request.documentId);
    const head = await documents.find(requireTenantId(request.tenantId), documentId, { signal });
    if (!head) throw new DomainError("not_found", `document ${documentId} does not exist`);
    return { document: toDocument(head) };
  };
}
