import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { Html } from "../../markup/html.ts";
import { state } from "../parts/state.ts";

const weekMs = 7 * 86_400_000;
/** A key that nobody used for this time probably belongs to a program that is gone. */
const unusedMs = 90 * 86_400_000;

export function isLive({ revokedAt, expiresAt }: ApiKey, now: Date): boolean {
  return !revokedAt && (!expiresAt || timestampDate(expiresAt) > now);
}

export function keyState(key: ApiKey, now: Date): Html {
  if (key.revokedAt) return state("bad", "revoked");
  if (!isLive(key, now)) return state("off", "ended");
  if (key.expiresAt && timestampDate(key.expiresAt).getTime() - now.getTime() < weekMs)
    return state("wait", "ends soon");
  if (now.getTime() - (lastSign(key)?.getTime() ?? 0) > unusedMs) return state("off", "unused");
  return state("ok", "active");
}

function lastSign({ lastUsedAt, createdAt }: ApiKey): Date | undefined {
  const at = lastUsedAt ?? createdAt;
  return at && timestampDate(at);
}
