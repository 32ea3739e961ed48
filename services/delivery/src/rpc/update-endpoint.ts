import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { changeEndpoint, type ChangeEndpointDeps } from "./change-endpoint.ts";
import { toProto } from "./endpoint-message.ts";
import { type EndpointSettingsDeps, withSettings } from "./endpoint-settings.ts";
import type { MayChange } from "./may-change.ts";

/** Implements `UpdateEndpoint`. */
export function updateEndpoint(
  deps: ChangeEndpointDeps & EndpointSettingsDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.updateEndpoint> {
  return async (request, context) => {
    const by = mayChange(context);
    const changed = await changeEndpoint(deps, { action: "update_endpoint", by }, request, (endpoint) =>
      withSettings(deps, endpoint, request),
    );
    return { endpoint: toProto(changed) };
  };
}
