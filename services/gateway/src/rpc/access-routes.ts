import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { listAuditEntries, type ListAuditEntriesDeps } from "@vidimus/tenancy/audit/list-audit-entries";
import { route, type TeamsRoute, teamsRoute } from "@vidimus/kit/rpc/doors/shared/route";
import { createApiKey, type CreateApiKeyDeps } from "./create-api-key.ts";
import { createTenant, type CreateTenantDeps } from "./create-tenant.ts";
import { disableTenant, type DisableTenantDeps } from "./disable-tenant.ts";
import { enableTenant, type EnableTenantDeps } from "./enable-tenant.ts";
import { getApiKey, type GetApiKeyDeps } from "./get-api-key.ts";
import { listApiKeys, type ListApiKeysDeps } from "./list-api-keys.ts";
import { listScopes } from "./list-scopes.ts";
import { listTenants, type ListTenantsDeps } from "./list-tenants.ts";
import { revokeApiKey, type RevokeApiKeyDeps } from "./revoke-api-key.ts";
import { rollApiKey, type RollApiKeyDeps } from "./roll-api-key.ts";
import { updateApiKeyScopes, type UpdateApiKeyScopesDeps } from "./update-api-key-scopes.ts";

type AccessRoutesDeps = CreateTenantDeps &
  ListTenantsDeps &
  DisableTenantDeps &
  EnableTenantDeps &
  CreateApiKeyDeps &
  ListApiKeysDeps &
  GetApiKeyDeps &
  UpdateApiKeyScopesDeps &
  RollApiKeyDeps &
  RevokeApiKeyDeps &
  ListAuditEntriesDeps;

export function accessRoutes(deps: AccessRoutesDeps): TeamsRoute {
  const methods = route(AccessService, {
    createTenant: createTenant(deps),
    listTenants: listTenants(deps),
    disableTenant: disableTenant(deps),
    enableTenant: enableTenant(deps),
    createApiKey: createApiKey(deps),
    listApiKeys: listApiKeys(deps),
    getApiKey: getApiKey(deps),
    listScopes: listScopes(),
    updateApiKeyScopes: updateApiKeyScopes(deps),
    rollApiKey: rollApiKey(deps),
    revokeApiKey: revokeApiKey(deps),
    listAuditEntries: listAuditEntries(deps),
  });
  return teamsRoute(methods, {
    createTenant: "platform",
    listTenants: "platform",
    disableTenant: "platform",
    enableTenant: "platform",
    createApiKey: "write",
    listApiKeys: "read",
    getApiKey: "read",
    listScopes: "tenantless",
    updateApiKeyScopes: "write",
    rollApiKey: "write",
    revokeApiKey: "write",
    listAuditEntries: "read",
  });
}
