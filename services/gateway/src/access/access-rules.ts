import { isAdministrator } from "@vidimus/tenancy/administrator";
import { DomainError } from "@vidimus/kit/errors";
import { isScope, type Scope, scopes } from "./scopes.ts";

/** A tenant may have at most this many keys that are neither revoked nor expired. */
export const liveKeysMax = 50;

/** Throws `permission_denied` unless the role is owner or admin. */
export function requireAdministrator(role: string): void {
  if (isAdministrator(role)) return;
  throw new DomainError("permission_denied", `role owner or admin is needed, not "${role}"`);
}

/**
 * A display name, trimmed and in NFC. Throws `invalid` unless it has 1 to 200 characters, none of
 * them a control character or a lone surrogate.
 */
export function requireName(text: string): string {
  const name = text.trim().normalize("NFC");
  if (/^[^\p{Cc}\p{Cs}]{1,200}$/u.test(name)) return name;
  throw invalid("/name", "must have 1 to 200 characters and no control characters");
}

/**
 * The scopes, without duplicates and in the order of `scopes`. Throws `invalid` when one is unknown
 * or none is given.
 */
export function requireScopes(given: readonly string[]): Scope[] {
  const unknown = given.find((text) => !isScope(text));
  if (unknown !== undefined) throw invalid("/scopes", `knows no "${unknown}"; there are ${scopes.join(", ")}`);
  if (given.length === 0) throw invalid("/scopes", `must name at least one of ${scopes.join(", ")}`);
  return scopes.filter((scope) => given.includes(scope));
}

function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
