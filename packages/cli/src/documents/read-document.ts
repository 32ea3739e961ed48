import type { Document, DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { CliError } from "../cli-error.ts";
import type { ServiceCaller } from "../rpc/open-service.ts";

/** @throws CliError when the document does not exist or the call fails */
export async function readDocument(
  documents: ServiceCaller<typeof DocumentService>,
  tenantId: string,
  documentId: string,
): Promise<Document> {
  const { document } = await documents.read((client, options) => client.getDocument({ tenantId, documentId }, options));
  if (!document) throw new CliError(`the documents service answered without the document ${documentId}`);
  return document;
}
