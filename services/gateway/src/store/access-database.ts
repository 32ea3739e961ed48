import type { Schema } from "@vidimus/kit/mongo/schema";
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

/** How the gateway keeps its rows. */
export const accessSchema: Schema = {
  base: 2,
  steps: [],
  indexes: {
    api_keys: {
      // The only index that does not start with the tenant: a key is looked up before its tenant is known.
      prefix: { key: { prefix: 1 }, unique: true },
      created: { key: { tenantId: 1, createdAt: -1 } },
    },
    access_audit: { time: { key: { tenantId: 1, at: -1 } } },
  },
};
