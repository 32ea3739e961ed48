import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { enabledWithNotice } from "../domain/endpoint-notice.ts";
import type { EndpointKey } from "../domain/endpoint-key.ts";
import { changeEndpoint } from "./change-endpoint.ts";
import type { DisableEndpointDeps } from "./disable-endpoint.ts";
import { toProto } from "./endpoint-message.ts";
import type { MayChange } from "./may-change.ts";

export interface EnableEndpointDeps extends DisableEndpointDeps {
  /**
   * Makes the endpoint's waiting lanes due, in the background. When that fails, they are sent when
   * their backoff ends.
   */
  expedite: (endpoint: EndpointKey) => void;
}

/** Enabling changes the state of no delivery, because disabling has changed none. */
export function enableEndpoint(
  deps: EnableEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.enableEndpoint> {
  return async (request, context) => {
    const by = mayChange(context);
    const endpoint = await changeEndpoint(deps, { action: "enable_endpoint", by }, request, enabledWithNotice);
    deps.expedite(endpoint);
    deps.announce(endpoint);
    return { endpoint: toProto(endpoint) };
  };
}
