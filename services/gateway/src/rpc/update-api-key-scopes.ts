import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireTenantId } from "@vidimus/kit/ids";
import { requireAdministrator, requireScopes } from "../access/access-rules.ts";
import { requireLive } from "../access/roll-key.ts";
import type { Evict } from "../access/evictions.ts";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import { evictAfter } from "./evict-after.ts";
import { apiKeyToProto } from "./messages.ts";

export interface UpdateApiKeyScopesDeps {
  apiKeys: Pick<ApiKeyStore, "update">;
  evict: Evict;
  now: () => Date;
}

export function updateApiKeyScopes(
  deps: UpdateApiKeyScopesDeps,
): MethodImpl<typeof AccessService.method.updateApiKeyScopes> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    requireAdministrator(by.role);
    const scopes = requireScopes(request.scopes);
    const at = deps.now();
    const tenantId = requireTenantId(request.tenantId);
    const key = await evictAfter(deps.evict, { tenantId, signal: context.signal }, () =>
      deps.apiKeys.update(tenantId, request.keyId, by, (current) => {
        requireLive(current, at);
        return { action: "update_key_scopes", fields: { scopes } };
      }),
    );
    return { apiKey: apiKeyToProto(key) };
  };
}
