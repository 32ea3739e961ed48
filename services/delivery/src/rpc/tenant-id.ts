import { DomainError } from "@vidimus/kit/errors";

/** Throws `invalid` unless the text can be a tenant's id. */
export function parseTenantId(text: string): string {
  if (/^[a-z][a-z0-9_]{0,31}$/.test(text)) return text;
  throw new DomainError("invalid", "tenant_id must be a tenant's id", {
    violations: [{ pointer: "/tenantId", message: "must be a tenant's id" }],
  });
}
