import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/ids";

/**
 * Returns the id of the document that a request names, in lowercase. Throws `invalid` for anything
 * but a UUID.
 */
export function requireDocumentId(documentId: string): string {
  const id = parseUuid(documentId);
  if (id === undefined) throw new DomainError("invalid", "document_id must be a UUID");
  return id;
}
