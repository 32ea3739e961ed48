import { DomainError } from "@vidimus/kit/errors";
import { isScope, type Scope, scopes } from "./scope.ts";

/** Most live keys a tenant may have. */
export const liveKeysMax = 50;

/** Who changes tenants and keys, as the caller asserts it. */
export interface Actor {
  readonly actor: string;
  readonly role: string;
  readonly requestId: string;
}

/** Throws unless the role may change tenants and keys. */
export function requireAdministrator(role: string): void {
  if (role === "owner" || role === "admin") return;
  throw new DomainError("permission_denied", `role owner or admin is needed, not "${role}"`);
}

/** A tenant id as given, or an `invalid` error. */
export function requireTenantId(text: string): string {
  if (/^[a-z][a-z0-9_]{0,31}$/.test(text)) return text;
  throw invalid("/tenantId", "must be 1 to 32 of a-z, 0-9 and _, beginning with a letter");
}

/** A name for people, trimmed, or an `invalid` error. */
export function requireName(text: string): string {
  const name = text.trim().normalize("NFC");
  if (/^[^\p{Cc}\p{Cs}]{1,200}$/u.test(name)) return name;
  throw invalid("/name", "must have 1 to 200 characters and no control characters");
}

/** At least one scope of the closed set, each once and in its order, or an `invalid` error. */
export function requireScopes(given: readonly string[]): Scope[] {
  const unknown = given.find((text) => !isScope(text));
  if (unknown !== undefined) throw invalid("/scopes", `knows no "${unknown}"; there are ${scopes.join(", ")}`);
  if (given.length === 0) throw invalid("/scopes", `must name at least one of ${scopes.join(", ")}`);
  return scopes.filter((scope) => given.includes(scope));
}

function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
