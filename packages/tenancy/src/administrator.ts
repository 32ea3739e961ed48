import { DomainError } from "@vidimus/kit/errors";

const roles: ReadonlySet<string> = new Set(["owner", "admin"]);

/**
 * Whether a role may do everything within its tenant, but for changes of members that only an owner
 * may make.
 */
export function isAdministrator(role: string): boolean {
  return roles.has(role);
}

/** Throws `permission_denied` unless the role is `owner` or `admin`; `action` completes "may". */
export function requireAdministrator({ role }: { readonly role: string }, action: string): void {
  if (isAdministrator(role)) return;
  throw new DomainError("permission_denied", `only an owner or an admin may ${action}`);
}
