import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import { pagePosition, pageSize } from "@vidimus/kit/page-request";
import type { KeyRecord } from "../access/key-record.ts";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import { apiKeyToProto } from "./messages.ts";

export interface ListApiKeysDeps {
  apiKeys: Pick<ApiKeyStore, "list">;
  now: () => Date;
}

export function listApiKeys({ apiKeys, now }: ListApiKeysDeps): MethodImpl<typeof AccessService.method.listApiKeys> {
  return async (request, { signal }) => {
    const tenantId = requireTenantId(request.tenantId);
    const limit = pageSize(request.limit);
    const after = pagePosition(request.pageToken, readPosition);
    const found = await apiKeys.list(
      tenantId,
      { limit: limit + 1, after, ...(request.liveOnly && { liveAt: now() }) },
      signal,
    );
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const nextPageToken = last ? encodeOpaqueToken([last.createdAt.getTime(), last.keyId]) : "";
    return { apiKeys: page.map(apiKeyToProto), nextPageToken };
  };
}

function readPosition([createdAt, keyId]: readonly (string | number)[]):
  | Pick<KeyRecord, "createdAt" | "keyId">
  | undefined {
  return isEpochMs(createdAt) && typeof keyId === "string" ? { createdAt: new Date(createdAt), keyId } : undefined;
}
