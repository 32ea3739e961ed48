import { createHash } from "node:crypto";

/** Who somebody is, as the one who signed them in says it. Never an e-mail address. */
export interface Identity {
  /** The issuer's URL of OpenID Connect, or `linkIssuer`. */
  readonly issuer: string;
  readonly subject: string;
}

/** Issuer of identities that sign in with one-time codes. */
export const linkIssuer = "vidimus:link";

/** The name of a person in history and audit: `person:` and 32 hex digits. */
export function memberIdOf({ issuer, subject }: Identity): string {
  return `person:${createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, 32)}`;
}
