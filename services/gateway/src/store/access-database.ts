import type { Db } from "mongodb";
import type { ApiKeyRow, AuditRow, TenantRow } from "./rows.ts";

/** The collections the gateway owns. */
export function accessCollections(db: Db) {
  return {
    tenants: db.collection<TenantRow>("tenants"),
    apiKeys: db.collection<ApiKeyRow>("api_keys"),
    audit: db.collection<AuditRow>("access_audit"),
  };
}

/**
 * Makes the indexes that do not exist yet. Only the unique index on a key's prefix does not start
 * with the tenant, because a key is looked up before its tenant is known.
 */
export async function ensureIndexes(db: Db): Promise<void> {
  const { apiKeys, audit } = accessCollections(db);
  await Promise.all([
    apiKeys.createIndex({ prefix: 1 }, { unique: true }),
    apiKeys.createIndex({ tenantId: 1, createdAt: -1 }),
    audit.createIndex({ tenantId: 1, at: -1 }),
  ]);
}
