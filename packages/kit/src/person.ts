import { createHash } from "node:crypto";
import { comparableName } from "./comparable-name.ts";

/** Who somebody is, as the one who signed them in says it. */
export interface Identity {
  /** URL of an OpenID Connect issuer, or `vidimus:link`. Without a line feed. */
  readonly issuer: string;
  readonly subject: string;
}

/**
 * The actor of what a person does, in metadata, history and audit: `person:` and the first 32 hex
 * digits of sha256(issuer LF subject). It is the same whichever tool the person uses, and after a
 * member was removed and has come back.
 */
export function personActor({ issuer, subject }: Identity): string {
  return `person:${createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, 32)}`;
}

/** Whether an actor is one that `personActor` makes. */
export function isPersonActor(actor: string): boolean {
  return /^person:[0-9a-f]{32}$/.test(actor);
}

/** Whether people would read an actor as a person, also where `isPersonActor` does not hold. */
export function claimsToBePerson(actor: string): boolean {
  return comparableName(actor).startsWith("person:");
}
