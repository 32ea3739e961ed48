import type { DatabaseVersion } from "@vidimus/kit/mongo/database-version";
import type { Db } from "mongodb";
import type { ApiKeyRow, FormerMemberRow, InvitationRow, MemberRow, SignInLinkRow, TenantRow } from "./rows.ts";

export function accessCollections(db: Db) {
  return {
    tenants: db.collection<TenantRow>("tenants"),
    apiKeys: db.collection<ApiKeyRow>("api_keys"),
    members: db.collection<MemberRow>("members"),
    formerMembers: db.collection<FormerMemberRow>("former_members"),
    invitations: db.collection<InvitationRow>("invitations"),
    signInLinks: db.collection<SignInLinkRow>("sign_in_links"),
  };
}

export const accessDatabaseVersion: DatabaseVersion = {
  base: 3,
  steps: [],
  indexes: {
    api_keys: {
      // Does not start with the tenant, because the look-up of a key does not know its tenant.
      prefix: { key: { prefix: 1 }, unique: true },
      created: { key: { tenantId: 1, createdAt: -1, _id: -1 } },
    },
    members: {
      name: { key: { tenantId: 1, order: 1, memberId: 1 } },
      // A person's memberships are read before a tenant is chosen.
      person: { key: { memberId: 1, tenantId: 1 } },
    },
    former_members: {
      name: { key: { tenantId: 1, name: 1 } },
    },
    invitations: {
      // The look-up of a code does not know its tenant.
      hash: { key: { hash: 1 }, unique: true },
      open: { key: { tenantId: 1, _id: -1 }, partialFilterExpression: { state: "open" } },
      expired: { key: { expiresAt: 1 }, expireAfterSeconds: 0 },
    },
    sign_in_links: {
      expired: { key: { expiresAt: 1 }, expireAfterSeconds: 0 },
    },
  },
};
