import type { Identity } from "@vidimus/kit/rpc/context/person";

/** How someone signed in: with a one-time code, or at the issuer of OpenID Connect. */
type SignInWay = "link" | "oidc";

/** A signed-in person in one browser. */
export interface Session {
  /** Id of the session in lists and logs; differs from the cookie's id, which is secret. */
  readonly sessionId: string;
  readonly identity: Identity;
  readonly name: string;
  /** E-mail address to show; "" without one. */
  readonly address: string;
  readonly way: SignInWay;
  /** When the person last proved its identity. */
  readonly authTime: Date;
  readonly createdAt: Date;
  /**
   * Time of the last use, up to a minute too early, because it is written at most once a minute.
   */
  readonly lastSeenAt: Date;
  /** IP address of the sign-in. */
  readonly from: string;
  /** Header `User-Agent` of the sign-in, at most 200 characters. */
  readonly userAgent: string;
  /** Tenant that `/` opens; the person's first one when this is "" or no longer the person's. */
  readonly tenantId: string;
  /** ID token for signing out at the issuer; undefined after a one-time code. */
  readonly idToken?: string;
}

const hourMs = 3_600_000;
/** A session ends after this time without use. */
export const idleMs = 8 * hourMs;
/** A session ends at this age, however much it is used. */
export const sessionMsMax = 24 * hourMs;

/** When a session ends if it is not used again. */
export function expiryOf({ createdAt, lastSeenAt }: Pick<Session, "createdAt" | "lastSeenAt">): Date {
  return new Date(Math.min(lastSeenAt.getTime() + idleMs, createdAt.getTime() + sessionMsMax));
}
