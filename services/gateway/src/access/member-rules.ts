import { DomainError } from "@vidimus/kit/errors";
import { type Identity, linkIssuer, personActor } from "@vidimus/kit/rpc/context/person";
import { rolePattern } from "@vidimus/kit/rpc/context/role-name";
import type { MemberRecord, Newcomer } from "./member-record.ts";

export const openInvitationsMax = 100;

/** How long an invitation can be accepted. */
export const invitationMs = 7 * 24 * 3_600_000;

/** How long a sign-in code is valid. */
export const signInLinkMs = 10 * 60_000;

const rolesMax = 16;

/** Throws `permission_denied` unless the role is owner. */
export function requireOwner(role: string): void {
  if (role === "owner") return;
  throw new DomainError("permission_denied", `role owner is needed, not "${role}"`);
}

/**
 * Whether a member with the roles `held` may give all of `roles`: an owner may give any, an admin
 * any except owner.
 */
export function mayGive(held: readonly string[], roles: readonly string[]): boolean {
  return held.includes("owner") || (held.includes("admin") && !roles.includes("owner"));
}

/**
 * Throws `permission_denied` unless a member with the role may give `roles`. Revoking an invitation
 * needs the same right as giving its roles.
 */
export function requireMayGive(role: string, roles: readonly string[]): void {
  if (mayGive([role], roles)) return;
  throw new DomainError(
    "permission_denied",
    `role "${role}" may not give ${roles.join(", ")}: an owner gives any role, an admin any but owner`,
  );
}

/**
 * The roles of a member, without duplicates, sorted. Throws `invalid` for none, too many and
 * malformed ones.
 */
export function requireRoles(given: readonly string[]): string[] {
  const roles = [...new Set(given)].toSorted();
  if (roles.length === 0 || roles.length > rolesMax) throw invalid("/roles", `must be 1 to ${rolesMax} roles`);
  const at = given.findIndex((role) => !rolePattern.test(role));
  if (at >= 0) throw invalid(`/roles/${at}`, "must be 1 to 64 letters, digits, _ or -");
  return roles;
}

/** A text, trimmed and in NFC. Throws `invalid` when it is too long or has control characters. */
export function requireText(pointer: string, text: string, charactersMax: number): string {
  const shown = text.trim().normalize("NFC");
  if (!/[\p{Cc}\p{Cs}]/u.test(shown) && Array.from(shown).length <= charactersMax) return shown;
  throw invalid(pointer, `must have at most ${charactersMax} characters and no control characters`);
}

/**
 * Returns an identity unchanged, because an issuer's values are compared byte by byte. Throws
 * `invalid` when the issuer or the subject is missing, too long, or has control characters. A line
 * feed separates the two in the text whose hash is the member id, so neither may have one.
 */
export function requireIdentity(identity: Identity | undefined): Identity {
  const { issuer = "", subject = "" } = identity ?? {};
  requireExactly("/identity/issuer", issuer, 512);
  requireExactly("/identity/subject", subject, 255);
  return { issuer, subject };
}

/**
 * The identity of a sign-in link's subject; "" stands for the subject `operator`. Throws `invalid`
 * for a malformed subject.
 */
export function requireLinkIdentity(subject: string): Identity {
  const named = subject === "" ? "operator" : subject;
  requireExactly("/subject", named, 64);
  return { issuer: linkIssuer, subject: named };
}

export function newMember(
  { memberId, identity, name, address }: Newcomer,
  of: Pick<MemberRecord, "tenantId" | "roles" | "createdAt" | "invitedBy">,
): MemberRecord {
  return { memberId, identity, name, address, ...of };
}

/** Checks nothing: the caller has validated the values. */
export function newcomer(identity: Identity, name: string, address = ""): Newcomer {
  return { memberId: personActor(identity), identity, name, address };
}

function requireExactly(pointer: string, text: string, charactersMax: number): void {
  const { length } = Array.from(text);
  if (length > 0 && length <= charactersMax && !/[\p{Cc}\p{Cs}]/u.test(text)) return;
  throw invalid(pointer, `must have 1 to ${charactersMax} characters and no control characters`);
}

function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
