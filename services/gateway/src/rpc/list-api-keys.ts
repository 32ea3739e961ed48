import type { ServiceImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { requireTenantId } from "../domain/access-rules.ts";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import { apiKeyToProto } from "./to-proto.ts";

export function listApiKeys(deps: {
  apiKeys: Pick<ApiKeyStore, "list">;
}): ServiceImpl<typeof AccessService>["listApiKeys"] {
  return async (request) => {
    const keys = await deps.apiKeys.list(requireTenantId(request.tenantId));
    return { apiKeys: keys.map(apiKeyToProto) };
  };
}
