import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { EndpointHealthStore } from "../store/endpoint-health-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { toProto } from "./endpoint-message.ts";

export interface GetEndpointDeps {
  endpoints: Pick<EndpointStore, "find">;
  health: Pick<EndpointHealthStore, "find">;
}

export function getEndpoint({
  endpoints,
  health,
}: GetEndpointDeps): MethodImpl<typeof EndpointService.method.getEndpoint> {
  return async (request, { signal }) => {
    const endpoint = await requireEndpoint(endpoints, request, signal);
    const found = await health.find(endpoint.tenantId, [endpoint], signal);
    return { endpoint: toProto(endpoint, found.get(endpoint.endpointId)) };
  };
}
