import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/uuid";

/** Makes sure that a request names a tenant; throws `invalid`. */
export function requireTenantId(tenantId: string): string {
  if (/^[a-z][a-z0-9_]{0,31}$/.test(tenantId)) return tenantId;
  throw new DomainError("invalid", "tenant_id must be a letter and up to 31 letters, digits or _, all lowercase");
}

/** Makes sure that a request names a document; answers the id in lowercase, throws `invalid`. */
export function requireDocumentId(documentId: string): string {
  const id = parseUuid(documentId);
  if (id === undefined) throw new DomainError("invalid", "document_id must be a UUID");
  return id;
}
