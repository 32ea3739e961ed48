import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { enabled } from "../domain/change-endpoint.ts";
import { changeEndpoint, type ChangeEndpointDeps } from "./change-endpoint.ts";
import { toProto } from "./endpoint-message.ts";
import type { MayChange } from "./may-change.ts";

/** Implements `EnableEndpoint`. */
export function enableEndpoint(
  deps: ChangeEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.enableEndpoint> {
  return async (request, context) => {
    mayChange(context);
    return { endpoint: toProto(await changeEndpoint(deps, request, enabled)) };
  };
}
