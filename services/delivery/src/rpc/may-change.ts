import type { HandlerContext } from "@connectrpc/connect";
import { isAdministrator } from "@vidimus/tenancy/administrator";
import { type AuditAuthor, authorOf, keyHolderOf } from "@vidimus/tenancy/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import { callContext } from "@vidimus/kit/rpc/context/call-context";

/**
 * Checks that a caller may change endpoints and have webhooks sent again; one rule covers both.
 *
 * @returns the author for the audit log
 * @throws DomainError `permission_denied`
 */
export type MayChange = (context: HandlerContext) => AuditAuthor;

/** The rule of the teams door. */
export const integratorsMayChange: MayChange = (context) => {
  const call = callContext(context);
  if (isAdministrator(call.role) || call.role === "integrator") return authorOf(call);
  throw new DomainError("permission_denied", "only an owner, an admin or an integrator may change endpoints");
};

/** The rule of the mesh door, where the gateway has checked the scope of the API key. */
export const gatewayMayChange: MayChange = (context) => keyHolderOf(callContext(context));
