import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { callContext } from "@vidimus/kit/rpc/call-context";
import { disabled } from "../domain/change-endpoint.ts";
import { changeEndpoint, type ChangeEndpointDeps } from "./change-endpoint.ts";
import { toProto } from "./endpoint-message.ts";
import type { MayChange } from "./may-change.ts";

/** Implements `DisableEndpoint`. */
export function disableEndpoint(
  deps: ChangeEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.disableEndpoint> {
  return async (request, context) => {
    mayChange(context);
    const { actor } = callContext(context);
    const changed = await changeEndpoint(deps, request, (endpoint, now) => disabled(endpoint, "operator", now, actor));
    return { endpoint: toProto(changed) };
  };
}
