import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { toEndpointMessage } from "./endpoint-message.ts";
import { parseTenantId } from "./tenant-id.ts";

/** A tenant's receivers. */
export function listEndpoints(deps: {
  endpoints: Pick<EndpointStore, "list">;
}): MethodImpl<typeof EndpointService.method.listEndpoints> {
  return async (request, context) => {
    const endpoints = await deps.endpoints.list(parseTenantId(request.tenantId), context.signal);
    return { endpoints: endpoints.map(toEndpointMessage) };
  };
}
