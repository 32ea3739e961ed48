import type { Identity } from "../sign-in/identity.ts";

/** How someone signed in: with a one-time code, or at the issuer of OpenID Connect. */
export type SignInWay = "link" | "oidc";

/** Someone who has signed in, in one browser. */
export interface Session {
  /** Names the session in lists and logs; the cookie's id is another one. */
  readonly sessionId: string;
  readonly identity: Identity;
  /** To show. */
  readonly name: string;
  /** E-mail address to show; "" without one. */
  readonly address: string;
  readonly way: SignInWay;
  /** When the person last proved who it is. */
  readonly authTime: Date;
  readonly createdAt: Date;
  /** To the minute. */
  readonly lastSeenAt: Date;
  /** IP address of the sign-in. */
  readonly from: string;
  /** Header `User-Agent` of the sign-in, at most 200 characters. */
  readonly userAgent: string;
  /** The tenant that was chosen last; "" for none. */
  readonly tenantId: string;
  /** Of OpenID Connect, for signing out at the issuer; undefined after a code. */
  readonly idToken?: string;
}

const hourMs = 3_600_000;
/** A session ends when nobody used it for so long. */
export const idleMs = 8 * hourMs;
/** A session ends so long after the sign-in, whatever its use. */
export const sessionMsMax = 24 * hourMs;

/** When a session ends unless it is used again. */
export function expiryOf({ createdAt, lastSeenAt }: Pick<Session, "createdAt" | "lastSeenAt">): Date {
  return new Date(Math.min(lastSeenAt.getTime() + idleMs, createdAt.getTime() + sessionMsMax));
}
