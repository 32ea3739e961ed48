import { durationMs } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { AccessService } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { DomainError } from "@vidimus/kit/errors";
import { authorOf } from "@vidimus/tenancy/audit/audit-entry";
import { callContext } from "@vidimus/kit/rpc/context/call-context";
import { requireTenantId, uuidv7 } from "@vidimus/kit/ids";
import { requireAdministrator } from "../access/access-rules.ts";
import { hashApiKey, mintApiKey } from "../access/api-key.ts";
import type { KeyRecord } from "../access/key-record.ts";
import { endAfterRoll, endOfSuccessor, requireLive, requireOverlap } from "../access/roll-key.ts";
import type { Evict } from "../access/evictions.ts";
import type { ApiKeyStore } from "../store/api-key-store.ts";
import { evictAfter } from "./evict-after.ts";
import { apiKeyToProto } from "./messages.ts";

export interface RollApiKeyDeps {
  apiKeys: Pick<ApiKeyStore, "update">;
  evict: Evict;
  now: () => Date;
}

export function rollApiKey(deps: RollApiKeyDeps): MethodImpl<typeof AccessService.method.rollApiKey> {
  return async (request, context) => {
    const by = authorOf(callContext(context));
    requireAdministrator(by.role);
    const tenantId = requireTenantId(request.tenantId);
    const overlapMs = requireOverlap(request.overlap ? durationMs(request.overlap) : 0);
    const { key, prefix } = mintApiKey();
    const fresh = { keyId: uuidv7(), prefix, hash: hashApiKey(key), createdBy: by.actor };
    const at = deps.now();
    let successor: KeyRecord | undefined;
    const replaced = await evictAfter(deps.evict, { tenantId, signal: context.signal }, () =>
      deps.apiKeys.update(tenantId, request.keyId, by, (old) => {
        requireRollable(old, at);
        const { name, scopes } = old;
        successor = { ...fresh, tenantId, name, scopes, createdAt: at, ...endOfSuccessor(old, at) };
        const fields = { ...endAfterRoll(old, overlapMs, at), replacedBy: fresh.keyId };
        return { action: "roll_key", fields, successor };
      }),
    );
    if (!successor) throw new Error("a roll made no key");
    return { apiKey: apiKeyToProto(successor), secret: key, replaced: apiKeyToProto(replaced) };
  };
}

function requireRollable(old: KeyRecord, at: Date): void {
  requireLive(old, at);
  if (old.replacedBy === undefined) return;
  throw new DomainError("failed_precondition", `key ${old.keyId} was rolled before, into ${old.replacedBy}`);
}
