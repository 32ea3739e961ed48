import type { TenantRoute } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";

/**
 * `POST /t/{tenant}/endpoints/{endpoint}/pause`: disables the endpoint; its deliveries are held.
 */
export function pauseEndpoint({
  endpoints,
}: {
  readonly endpoints: Pick<EndpointCalls, "disableEndpoint">;
}): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: "/endpoints/:endpoint/pause",
    right: "endpoints",
    handle: async ({ tenant: { tenantId }, params, rpc, at }) => {
      const endpointId = params["endpoint"] ?? "";
      await endpoints.disableEndpoint({ tenantId, endpointId }, rpc);
      return { to: at(`/endpoints/${endpointId}?done=paused`) };
    },
  };
}

/** `POST /t/{tenant}/endpoints/{endpoint}/start`: enables the endpoint; what was held is sent. */
export function startEndpoint({
  endpoints,
}: {
  readonly endpoints: Pick<EndpointCalls, "enableEndpoint">;
}): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: "/endpoints/:endpoint/start",
    right: "endpoints",
    handle: async ({ tenant: { tenantId }, params, rpc, at }) => {
      const endpointId = params["endpoint"] ?? "";
      await endpoints.enableEndpoint({ tenantId, endpointId }, rpc);
      return { to: at(`/endpoints/${endpointId}?done=started`) };
    },
  };
}
