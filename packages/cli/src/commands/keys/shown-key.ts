import type { ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import { isoTime } from "../../rpc/iso-time.ts";

export function toShown({ keyId, prefix, name, scopes, createdBy, replacedBy, ...times }: ApiKey) {
  return {
    id: keyId,
    prefix,
    name,
    scopes,
    createdBy,
    createdAt: isoTime(times.createdAt),
    expiresAt: isoTime(times.expiresAt),
    revokedAt: isoTime(times.revokedAt),
    replacedBy: replacedBy || null,
    lastUsedAt: isoTime(times.lastUsedAt),
  };
}

/**
 * A key's state at a time: `revoked`, `live`, `expired` or `until TIME`. ISO 8601 timestamps in UTC
 * with milliseconds compare as text.
 */
export function stateOf({ revokedAt, expiresAt }: ReturnType<typeof toShown>, now: Date): string {
  if (revokedAt) return "revoked";
  if (!expiresAt) return "live";
  return expiresAt <= now.toISOString() ? "expired" : `until ${expiresAt}`;
}
