import { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { route, type RpcRoute } from "@vidimus/kit/rpc/server";
import type { Evict } from "../evictions.ts";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import type { TenantStore } from "../store/tenant-store.ts";
import { createApiKey } from "./create-api-key.ts";
import { createTenant } from "./create-tenant.ts";
import { disableTenant } from "./disable-tenant.ts";
import { listApiKeys } from "./list-api-keys.ts";
import { listTenants } from "./list-tenants.ts";
import { revokeApiKey } from "./revoke-api-key.ts";
import { rollApiKey } from "./roll-api-key.ts";
import { updateApiKeyScopes } from "./update-api-key-scopes.ts";

/** What `vidimus.access.v1.AccessService` works with. */
export interface AccessDeps {
  tenants: TenantStore;
  apiKeys: ApiKeyStore;
  /** Told of every change, so that no gateway goes by what was before. */
  evict: Evict;
  now: () => Date;
}

export function accessService(deps: AccessDeps): RpcRoute {
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
