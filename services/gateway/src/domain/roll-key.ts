import { DomainError } from "@vidimus/kit/errors";
import type { KeyRecord } from "./key-record.ts";

const hourMs = 3_600_000;

/** How long a rolled key may go on, in milliseconds: long enough for a deployment, a day, a holiday week. */
const overlapsMs = new Set([0, hourMs, 24 * hourMs, 7 * 24 * hourMs]);

/** An overlap of the closed list, or an `invalid` error. */
export function requireOverlap(ms: number): number {
  if (overlapsMs.has(ms)) return ms;
  const message = "must be 0, 1 h, 24 h or 7 d";
  throw new DomainError("invalid", `overlap ${message}`, { violations: [{ pointer: "/overlap", message }] });
}

/** What is left of a key after it was rolled: nothing, or its life until the overlap ends, never a longer one. */
export function endAfterRoll(old: KeyRecord, overlapMs: number, now: Date): Pick<KeyRecord, "expiresAt" | "revokedAt"> {
  if (overlapMs === 0) return { revokedAt: now };
  const end = now.getTime() + overlapMs;
  return { expiresAt: new Date(Math.min(end, old.expiresAt?.getTime() ?? end)) };
}

/** When the successor ends: it lives as long as the old key was given to live. */
export function endOfSuccessor(old: KeyRecord, now: Date): Pick<KeyRecord, "expiresAt"> {
  if (!old.expiresAt) return {};
  return { expiresAt: new Date(now.getTime() + old.expiresAt.getTime() - old.createdAt.getTime()) };
}

/** Throws `failed_precondition` unless the key opens something. */
export function requireLive(key: KeyRecord, now: Date): void {
  const expired = key.expiresAt !== undefined && key.expiresAt <= now;
  if (!key.revokedAt && !expired) return;
  throw new DomainError("failed_precondition", `key ${key.keyId} ${key.revokedAt ? "was revoked" : "has expired"}`);
}
