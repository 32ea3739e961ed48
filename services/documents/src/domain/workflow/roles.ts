import { DomainError } from "@vidimus/kit/errors";
import { isAdministrator } from "@vidimus/tenancy/administrator";
import type { WorkflowDefinition } from "./definition.ts";

/** Roles that every workflow knows, besides those that it names. */
const platformRoles: ReadonlySet<string> = new Set([
  "owner",
  "admin",
  "integrator",
  "system",
  "writer",
  "editor",
  "chief",
  "legal",
]);

/**
 * Checks that a role is one of `allowed`, or `owner` or `admin`.
 *
 * @param allowed undefined for every role that the workflow knows
 * @param action what the role may not do, for the message, such as "create documents"
 * @throws DomainError `permission_denied` with reason `unknown_role` or `role_not_allowed`
 */
export function requireRole(
  workflow: WorkflowDefinition,
  role: string,
  allowed: readonly string[] | undefined,
  action: string,
): void {
  if (mayAct(workflow, role, allowed)) return;
  const metadata = { role, allowed_roles: (allowed ?? knownRoles(workflow)).join(",") };
  if (role === "") {
    const message = `a caller without a role may not ${action}: metadata vidimus-role names one`;
    throw new DomainError("permission_denied", message, { reason: "unknown_role", metadata });
  }
  const named = `"${role.slice(0, 64)}"`;
  if (!knownRoles(workflow).includes(role)) {
    const message = `${named} is no role of workflow ${workflow.workflowId}, so it may not ${action}`;
    throw new DomainError("permission_denied", message, { reason: "unknown_role", metadata });
  }
  const message = `role ${named} may not ${action}`;
  throw new DomainError("permission_denied", message, { reason: "role_not_allowed", metadata });
}

/** Whether `requireRole` would pass. */
export function mayAct(workflow: WorkflowDefinition, role: string, allowed: readonly string[] | undefined): boolean {
  return isAdministrator(role) || (allowed ?? knownRoles(workflow)).includes(role);
}

function knownRoles({ create = [], edit, transitions }: WorkflowDefinition): string[] {
  const named = [...create, ...[...edit.values()].flat(), ...transitions.flatMap(({ roles }) => roles)];
  return [...new Set([...platformRoles, ...named])];
}
