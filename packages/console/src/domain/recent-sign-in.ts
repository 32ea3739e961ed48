import type { Session } from "./session.ts";

const recentMs = 15 * 60_000;
/** 15 minutes in seconds, for `max_age` of OpenID Connect. */
export const recentSeconds = recentMs / 1_000;

/**
 * Whether the person proved its identity within the last 15 minutes. Pages that make or roll
 * secrets or change members require such a recent sign-in. On loopback a session of a one-time code
 * always counts as recent, because the user of that browser could make another code.
 */
export function isRecentSignIn(session: Pick<Session, "way" | "authTime">, now: Date, isLoopback: boolean): boolean {
  if (session.way === "link" && isLoopback) return true;
  return now.getTime() - session.authTime.getTime() <= recentMs;
}
