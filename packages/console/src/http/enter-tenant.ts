import { DomainError } from "@vidimus/kit/errors";
import { actingAs } from "../rpc/acting-as.ts";
import { roleFor, rolesWith } from "../domain/rights.ts";
import type { Answer } from "./answer.ts";
import type { PersonCall, TenantRoute } from "./route.ts";

/**
 * Checks that the caller is a member of the tenant in the URL, with a role that has the page's
 * right.
 *
 * @returns a function that makes the page's answer; the caller checks the age of the sign-in before
 * it calls this function
 * @throws DomainError `not_found`, in the same words, for a tenant of others and for one that does
 * not exist; `permission_denied` without the right
 */
export function enterTenant(
  route: TenantRoute,
  call: PersonCall,
  { tenant: tenantId = "", ...params }: Readonly<Record<string, string>>,
): () => Promise<Answer> {
  const tenant = call.person.memberships.find((membership) => membership.tenantId === tenantId);
  if (!tenant) throw new DomainError("not_found", "there is nothing at this address");
  const role = roleFor(route.right, tenant.roles);
  if (role === undefined) {
    const able = rolesWith(route.right).join(" or ");
    throw new DomainError("permission_denied", `this is for members with the role ${able}`);
  }
  const person = { ...call.person, current: tenant };
  const rpc = actingAs(call, person.memberId, role);
  const at = (path: string) => `/t/${tenantId}${path}`;
  return () => route.handle({ ...call, person, tenant, params, role, rpc, at });
}
