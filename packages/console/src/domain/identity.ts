import { createHash } from "node:crypto";

/**
 * What identifies a person: the issuer of the sign-in, and the issuer's id of the person, which is
 * never an e-mail address.
 */
export interface Identity {
  /** URL of the OpenID Connect issuer, or `linkIssuer`. */
  readonly issuer: string;
  readonly subject: string;
}

/** Issuer of identities that sign in with one-time codes. */
export const linkIssuer = "vidimus:link";

/** The actor by which history and audit logs name a person: `person:` and 32 hex digits. */
export function memberIdOf({ issuer, subject }: Identity): string {
  return `person:${createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, 32)}`;
}
