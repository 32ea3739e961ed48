import type { HandlerContext } from "@connectrpc/connect";
import { isAdministrator } from "@vidimus/tenancy/administrator";
import { type AuditAuthor, authorOf, keyHolderOf } from "@vidimus/tenancy/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { callContext } from "@vidimus/kit/rpc/context/call-context";

/**
 * Returns the author of a change. Throws DomainError `permission_denied` when the caller may
 * neither change endpoints nor have webhooks sent again, which the same callers may.
 */
export type MayChange = (context: HandlerContext) => AuditAuthor;

/** The rule of the teams door: roles owner, admin and integrator may. */
export const integratorsMayChange: MayChange = (context) => {
  const call = callContext(context);
  if (isAdministrator(call.role) || call.role === "integrator") return authorOf(call);
  throw new DomainError("permission_denied", "only an owner, an admin or an integrator may change endpoints");
};

/** The rule of the mesh door, where the gateway has checked the scope of the API key. */
export const gatewayMayChange: MayChange = (context) => keyHolderOf(callContext(context));
