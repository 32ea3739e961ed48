import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { DomainError } from "@vidimus/kit/errors";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireTenantId, uuidv7 } from "@vidimus/kit/ids";
import { requireAdministrator, requireName, requireScopes } from "../access/access-rules.ts";
import { hashApiKey, mintApiKey } from "../access/api-key.ts";
import type { KeyRecord } from "../access/key-record.ts";
import type { Evict } from "../access/evictions.ts";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import { apiKeyToProto } from "./messages.ts";

export interface CreateApiKeyDeps {
  apiKeys: Pick<ApiKeyStore, "insert">;
  evict: Evict;
  now: () => Date;
}

export function createApiKey(deps: CreateApiKeyDeps): MethodImpl<typeof AccessService.method.createApiKey> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    requireAdministrator(by.role);
    const { key, prefix } = mintApiKey();
    const createdAt = deps.now();
    const record = {
      keyId: uuidv7(),
      tenantId: requireTenantId(request.tenantId),
      prefix,
      hash: hashApiKey(key),
      name: requireName(request.name),
      scopes: requireScopes(request.scopes),
      createdAt,
      createdBy: by.actor,
      ...requireEnd(request.expiresAt, createdAt),
    };
    await deps.apiKeys.insert(record, by);
    deps.evict({ prefix });
    return { apiKey: apiKeyToProto(record), secret: key };
  };
}

function requireEnd(expiresAt: Timestamp | undefined, now: Date): Pick<KeyRecord, "expiresAt"> {
  if (!expiresAt) return {};
  const end = timestampDate(expiresAt);
  if (end > now) return { expiresAt: end };
  const message = "must be in the future";
  throw new DomainError("invalid", `expiresAt ${message}`, { violations: [{ pointer: "/expiresAt", message }] });
}
