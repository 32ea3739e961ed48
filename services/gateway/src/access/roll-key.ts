import { DomainError } from "@vidimus/kit/errors";
import type { KeyRecord } from "./key-record.ts";

const hourMs = 3_600_000;

/** How long a rolled key may stay valid beside its successor. */
const overlapsMs = new Set([0, hourMs, 24 * hourMs, 7 * 24 * hourMs]);

/** Throws `invalid` unless the overlap is one of `overlapsMs`. */
export function requireOverlap(ms: number): number {
  if (overlapsMs.has(ms)) return ms;
  const message = "must be 0, 1 h, 24 h or 7 d";
  throw new DomainError("invalid", `overlap ${message}`, { violations: [{ pointer: "/overlap", message }] });
}

/**
 * The end of a rolled key: now, or the end of the overlap, but never later than its previous end.
 */
export function endAfterRoll(old: KeyRecord, overlapMs: number, now: Date): Pick<KeyRecord, "expiresAt" | "revokedAt"> {
  if (overlapMs === 0) return { revokedAt: now };
  const end = now.getTime() + overlapMs;
  return { expiresAt: new Date(Math.min(end, old.expiresAt?.getTime() ?? end)) };
}

/** The end of the successor, which gets the same lifetime as the old key. */
export function endOfSuccessor(old: KeyRecord, now: Date): Pick<KeyRecord, "expiresAt"> {
  if (!old.expiresAt) return {};
  return { expiresAt: new Date(now.getTime() + old.expiresAt.getTime() - old.createdAt.getTime()) };
}

/** Throws `failed_precondition` when the key was revoked or has expired. */
export function requireLive(key: KeyRecord, now: Date): void {
  const expired = key.expiresAt !== undefined && key.expiresAt <= now;
  if (!key.revokedAt && !expired) return;
  throw new DomainError("failed_precondition", `key ${key.keyId} ${key.revokedAt ? "was revoked" : "has expired"}`);
}
