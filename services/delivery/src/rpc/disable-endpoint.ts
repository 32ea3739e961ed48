import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { disabledWithNotice } from "../domain/endpoint-notice.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import { changeEndpoint, type ChangeEndpointDeps } from "./change-endpoint.ts";
import { toProto } from "./endpoint-message.ts";
import type { MayChange } from "./may-change.ts";

export interface DisableEndpointDeps extends ChangeEndpointDeps {
  /** Announces the change in the background, to the tenant's endpoints that ask for its event. */
  announce: (endpoint: ManagedEndpoint) => void;
}

export function disableEndpoint(
  deps: DisableEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.disableEndpoint> {
  return async (request, context) => {
    const by = mayChange(context);
    const changed = await changeEndpoint(deps, { action: "disable_endpoint", by }, request, (endpoint, now) =>
      disabledWithNotice(endpoint, "operator", now, by.actor),
    );
    deps.announce(changed);
    return { endpoint: toProto(changed) };
  };
}
