import { createHash } from "node:crypto";
import { comparableName } from "./comparable-name.ts";

/** Issuer of the identities that sign in by one-time codes. */
export const linkIssuer = "vidimus:link";

/** Identifies a person: an issuer that signs people in, and that issuer's name for the person. */
export interface Identity {
  /**
   * URL of an OpenID Connect issuer, or `linkIssuer`. Must not contain a line feed, which
   * separates issuer and subject in `personActor`.
   */
  readonly issuer: string;
  readonly subject: string;
}

/**
 * The actor of a person in metadata, history and audit: `person:` and the first 32 hex digits of
 * sha256(issuer LF subject). A member who is removed and added again has the same actor.
 */
export function personActor({ issuer, subject }: Identity): string {
  return `person:${createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, 32)}`;
}

export function isPersonActor(actor: string): boolean {
  return /^person:[0-9a-f]{32}$/.test(actor);
}

/** Whether a reader would take an actor for a person's, for example "Person:x". */
export function claimsToBePerson(actor: string): boolean {
  return comparableName(actor).startsWith("person:");
}
