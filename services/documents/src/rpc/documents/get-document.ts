import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { type HeadReader, requireHead } from "../../domain/document/require-head.ts";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import { toDocument } from "./messages.ts";

interface GetDocumentDeps {
  documents: HeadReader;
}

/** Reads the newest version of a document, whether or not readers see it. */
export function getDocument({ documents }: GetDocumentDeps): MethodImpl<typeof DocumentService.method.getDocument> {
  return async (request, { signal }) => {
    const tenantId = requireTenantId(request.tenantId);
    const documentId = requireDocumentId(request.documentId);
    return { document: toDocument(await requireHead(documents, tenantId, documentId, { signal })) };
  };
}
