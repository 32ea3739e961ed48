import type { ServiceImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { callContext } from "@vidimus/kit/rpc/call-context";
import { requireAdministrator, requireTenantId } from "../domain/access-rules.ts";
import type { Evict } from "../evictions.ts";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import { apiKeyToProto } from "./to-proto.ts";

export function revokeApiKey(deps: {
  apiKeys: Pick<ApiKeyStore, "update">;
  evict: Evict;
  now: () => Date;
}): ServiceImpl<typeof AccessService>["revokeApiKey"] {
  return async (request, context) => {
    const by = callContext(context);
    requireAdministrator(by.role);
    const at = deps.now();
    const key = await deps.apiKeys.update(requireTenantId(request.tenantId), request.keyId, by, (current) => ({
      at,
      action: "revoke_key",
      fields: current.revokedAt ? {} : { revokedAt: at },
    }));
    deps.evict({ prefix: key.prefix });
    return { apiKey: apiKeyToProto(key) };
  };
}
