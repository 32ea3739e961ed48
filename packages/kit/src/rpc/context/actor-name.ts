import { DomainError } from "../../errors.ts";

/** Longest name of an actor, in characters (Unicode code points). */
const actorMax = 256;

/**
 * Decodes the metadata `vidimus-actor`: percent-encoded UTF-8, since metadata is ASCII.
 *
 * @returns undefined when it is malformed
 */
export function decodeActor(encoded: string): string | undefined {
  if (!/^[\u0020-\u007e]*$/.test(encoded)) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/**
 * Writes a name as the metadata `vidimus-actor`. Printable ASCII characters stay as they are,
 * except the space and `%`.
 */
export function encodeActor(actor: string): string {
  return actor.toWellFormed().replace(/[^\u0021-\u007e]|%/gu, encodeURIComponent);
}

/**
 * Checks the metadata `vidimus-actor` of a call.
 *
 * @throws DomainError `invalid` when the name is not percent-encoded UTF-8, is longer than 256
 * characters, or has characters that are invisible, change the order of others, are unassigned, or
 * are of private use
 */
export function requireActorName(encoded: string): void {
  const actor = decodeActor(encoded);
  if (actor === undefined) throw new DomainError("invalid", "metadata vidimus-actor must be percent-encoded UTF-8");
  if (actor.length > actorMax && Array.from(actor).length > actorMax) {
    throw new DomainError("invalid", `metadata vidimus-actor has at most ${actorMax} characters`);
  }
  if (/[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(actor)) {
    throw new DomainError("invalid", "metadata vidimus-actor must have visible characters and spaces only");
  }
}
