import type { HandlerContext } from "@connectrpc/connect";
import { requireAdministrator } from "@vidimus/kit/administrator";
import { callContext } from "@vidimus/kit/rpc/call-context";

/** Throws `permission_denied` when a call may not change endpoints. */
export type MayChange = (context: HandlerContext) => void;

/** The rule of the teams door: owner and admin may. */
export const administratorsMayChange: MayChange = (context) =>
  requireAdministrator(callContext(context), "change endpoints");

/** The rule of the mesh door: the gateway has checked the scope of the API key. */
export const gatewayMayChange: MayChange = () => {};
