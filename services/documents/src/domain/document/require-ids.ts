import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/ids";

/** Makes sure that a request names a document; answers the id in lowercase, throws `invalid`. */
export function requireDocumentId(documentId: string): string {
  const id = parseUuid(documentId);
  if (id === undefined) throw new DomainError("invalid", "document_id must be a UUID");
  return id;
}
