import type { HandlerContext } from "@connectrpc/connect";
import { requireAdministrator } from "@vidimus/kit/administrator";
import { type AuditAuthor, authorOf, keyHolderOf } from "@vidimus/kit/audit/audit-entry";
import { callContext } from "@vidimus/kit/rpc/call-context";

/** Says who makes a change. Throws `permission_denied` when a call may not change endpoints. */
export type MayChange = (context: HandlerContext) => AuditAuthor;

/** The rule of the teams door: owner and admin may. */
export const administratorsMayChange: MayChange = (context) => {
  const call = callContext(context);
  requireAdministrator(call, "change endpoints");
  return authorOf(call);
};

/** The rule of the mesh door: the gateway has checked the scope of the API key. */
export const gatewayMayChange: MayChange = (context) => keyHolderOf(callContext(context));
