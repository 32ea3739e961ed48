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

/** Makes the indexes; does nothing where they stand. A key's prefix is the one index that does not start with a tenant. */
export async function ensureIndexes(db: Db): Promise<void> {
  const { apiKeys, audit } = accessCollections(db);
  await Promise.all([
    apiKeys.createIndex({ prefix: 1 }, { unique: true }),
    apiKeys.createIndex({ tenantId: 1, createdAt: -1 }),
    audit.createIndex({ tenantId: 1, at: -1 }),
  ]);
}
