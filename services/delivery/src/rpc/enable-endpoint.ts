import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { enabledWithNotice } from "../domain/endpoint-notice.ts";
import { changeEndpoint } from "./change-endpoint.ts";
import type { DisableEndpointDeps } from "./disable-endpoint.ts";
import { toProto } from "./endpoint-message.ts";
import type { MayChange } from "./may-change.ts";

export interface EnableEndpointDeps extends DisableEndpointDeps {
  /** Makes what was held for an endpoint pending. */
  releaseHeld: (endpoint: { tenantId: string; endpointId: string }) => Promise<void>;
}

/** Implements `EnableEndpoint`. What was held is sent in order, before what is newer. */
export function enableEndpoint(
  deps: EnableEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.enableEndpoint> {
  return async (request, context) => {
    mayChange(context);
    const endpoint = await changeEndpoint(deps, request, enabledWithNotice);
    await deps.releaseHeld(endpoint);
    deps.announce(endpoint);
    return { endpoint: toProto(endpoint) };
  };
}
