import type { HandlerContext } from "@connectrpc/connect";
import { isAdministrator } from "@vidimus/kit/administrator";
import { type AuditAuthor, authorOf, keyHolderOf } from "@vidimus/kit/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { callContext } from "@vidimus/kit/rpc/call-context";

/** Says who makes a change. Throws `permission_denied` when a call may not change endpoints. */
export type MayChange = (context: HandlerContext) => AuditAuthor;

/** The rule of the teams door: owner, admin and integrator may. */
export const integratorsMayChange: MayChange = (context) => {
  const call = callContext(context);
  if (isAdministrator(call.role) || call.role === "integrator") return authorOf(call);
  throw new DomainError("permission_denied", "only an owner, an admin or an integrator may change endpoints");
};

/** The rule of the mesh door: the gateway has checked the scope of the API key. */
export const gatewayMayChange: MayChange = (context) => keyHolderOf(callContext(context));
