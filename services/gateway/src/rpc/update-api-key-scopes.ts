import type { ServiceImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { callContext } from "@vidimus/kit/rpc/call-context";
import { requireAdministrator, requireScopes, requireTenantId } from "../domain/access-rules.ts";
import { requireLive } from "../domain/roll-key.ts";
import type { Evict } from "../evictions.ts";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import { apiKeyToProto } from "./to-proto.ts";

export function updateApiKeyScopes(deps: {
  apiKeys: Pick<ApiKeyStore, "update">;
  evict: Evict;
  now: () => Date;
}): ServiceImpl<typeof AccessService>["updateApiKeyScopes"] {
  return async (request, context) => {
    const by = callContext(context);
    requireAdministrator(by.role);
    const scopes = requireScopes(request.scopes);
    const at = deps.now();
    const key = await deps.apiKeys.update(requireTenantId(request.tenantId), request.keyId, by, (current) => {
      requireLive(current, at);
      return { at, action: "update_key_scopes", fields: { scopes } };
    });
    deps.evict({ prefix: key.prefix });
    return { apiKey: apiKeyToProto(key) };
  };
}
