import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import { apiKeyToProto } from "./messages.ts";

export interface ListApiKeysDeps {
  apiKeys: Pick<ApiKeyStore, "list">;
}

/** Implements `ListApiKeys`. */
export function listApiKeys(deps: ListApiKeysDeps): MethodImpl<typeof AccessService.method.listApiKeys> {
  return async (request) => {
    const keys = await deps.apiKeys.list(requireTenantId(request.tenantId));
    return { apiKeys: keys.map(apiKeyToProto) };
  };
}
