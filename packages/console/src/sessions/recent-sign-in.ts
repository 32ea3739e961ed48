import type { Session } from "./session.ts";

const recentMs = 15 * 60_000;
/** Same, in seconds, as OpenID Connect counts it. */
export const recentSeconds = recentMs / 1_000;

/**
 * Whether someone proved in the last 15 minutes who it is: needed for making and rolling secrets, and
 * for changing members. On loopback a session of a one-time code always counts, because whoever uses
 * that browser could make another code.
 */
export function isRecentSignIn(session: Pick<Session, "way" | "authTime">, now: Date, isLoopback: boolean): boolean {
  if (session.way === "link" && isLoopback) return true;
  return now.getTime() - session.authTime.getTime() <= recentMs;
}
