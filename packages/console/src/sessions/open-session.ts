import { uuidv7 } from "@vidimus/kit/ids";
import { randomBytes } from "node:crypto";
import type { CookieChange } from "../http/answer.ts";
import type { Call } from "../http/route.ts";
import type { SessionStore } from "../store/session-store.ts";
import { type Session, sessionMsMax } from "../domain/session.ts";

type SignedIn = Pick<Session, "identity" | "name" | "address" | "way" | "authTime" | "tenantId" | "idToken">;

const userAgentMax = 200;

/**
 * Opens a session under a new id, and ends the browser's old one, so that an id that somebody
 * planted in the browser before the sign-in is useless.
 *
 * @returns the cookie to set
 */
export async function openSession(
  sessions: Pick<SessionStore, "insert" | "end">,
  call: Pick<Call, "cookie" | "now" | "from" | "userAgent">,
  { identity: { issuer, subject }, ...signedIn }: SignedIn,
): Promise<CookieChange> {
  const earlier = call.cookie("session");
  if (earlier !== "") await sessions.end(earlier);
  const cookieId = randomBytes(32).toString("base64url");
  await sessions.insert(cookieId, {
    ...signedIn,
    identity: { issuer, subject },
    sessionId: uuidv7(),
    createdAt: call.now,
    lastSeenAt: call.now,
    from: call.from,
    userAgent: call.userAgent.slice(0, userAgentMax),
  });
  return { kind: "session", value: cookieId, maxAgeSeconds: sessionMsMax / 1_000 };
}
