import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { route, type RpcRoute } from "@vidimus/kit/rpc/server";
import { createApiKey, type CreateApiKeyDeps } from "./create-api-key.ts";
import { createTenant, type CreateTenantDeps } from "./create-tenant.ts";
import { disableTenant, type DisableTenantDeps } from "./disable-tenant.ts";
import { listApiKeys, type ListApiKeysDeps } from "./list-api-keys.ts";
import { listTenants, type ListTenantsDeps } from "./list-tenants.ts";
import { revokeApiKey, type RevokeApiKeyDeps } from "./revoke-api-key.ts";
import { rollApiKey, type RollApiKeyDeps } from "./roll-api-key.ts";
import { updateApiKeyScopes, type UpdateApiKeyScopesDeps } from "./update-api-key-scopes.ts";

type AccessRoutesDeps = CreateTenantDeps &
  ListTenantsDeps &
  DisableTenantDeps &
  CreateApiKeyDeps &
  ListApiKeysDeps &
  UpdateApiKeyScopesDeps &
  RollApiKeyDeps &
  RevokeApiKeyDeps;

/** The routes of `vidimus.access.v1.AccessService`. */
export function accessRoutes(deps: AccessRoutesDeps): RpcRoute {
  return route(AccessService, {
    createTenant: createTenant(deps),
    listTenants: listTenants(deps),
    disableTenant: disableTenant(deps),
    createApiKey: createApiKey(deps),
    listApiKeys: listApiKeys(deps),
    updateApiKeyScopes: updateApiKeyScopes(deps),
    rollApiKey: rollApiKey(deps),
    revokeApiKey: revokeApiKey(deps),
  });
}
