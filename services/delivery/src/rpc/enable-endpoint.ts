import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { enabledWithNotice } from "../domain/endpoint-notice.ts";
import { changeEndpoint, type EndpointName } from "./change-endpoint.ts";
import type { DisableEndpointDeps } from "./disable-endpoint.ts";
import { toProto } from "./endpoint-message.ts";
import type { MayChange } from "./may-change.ts";

export interface EnableEndpointDeps extends DisableEndpointDeps {
  /** Makes what waits for a backoff due, soon; without it, it is sent when its backoff ends. */
  hurry: (endpoint: EndpointName) => void;
}

/** Implements `EnableEndpoint`. It changes the endpoint alone; its deliveries waited as they were. */
export function enableEndpoint(
  deps: EnableEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.enableEndpoint> {
  return async (request, context) => {
    const by = mayChange(context);
    const endpoint = await changeEndpoint(deps, { action: "enable_endpoint", by }, request, enabledWithNotice);
    deps.hurry(endpoint);
    deps.announce(endpoint);
    return { endpoint: toProto(endpoint) };
  };
}
