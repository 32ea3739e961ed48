import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import { apiKeyToProto } from "./messages.ts";

export interface GetApiKeyDeps {
  apiKeys: Pick<ApiKeyStore, "get">;
}

export function getApiKey({ apiKeys }: GetApiKeyDeps): MethodImpl<typeof AccessService.method.getApiKey> {
  return async ({ tenantId, keyId }, { signal }) => {
    const key = await apiKeys.get(requireTenantId(tenantId), keyId, signal);
    return { apiKey: apiKeyToProto(key) };
  };
}
