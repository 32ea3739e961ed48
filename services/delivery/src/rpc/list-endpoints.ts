import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { EndpointHealthStore } from "../store/endpoint-health-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { shownName, toProto } from "./endpoint-message.ts";

export interface ListEndpointsDeps {
  endpoints: Pick<EndpointStore, "list">;
  health: Pick<EndpointHealthStore, "find">;
}

export function listEndpoints({
  endpoints,
  health,
}: ListEndpointsDeps): MethodImpl<typeof EndpointService.method.listEndpoints> {
  return async (request, context) => {
    const { signal } = context;
    const tenantId = requireTenantId(request.tenantId);
    const found = await endpoints.list(tenantId, signal);
    if (request.namesOnly) {
      return { endpoints: found.map((each) => ({ endpointId: each.endpointId, name: shownName(each) })) };
    }
    const known = await health.find(tenantId, found, signal);
    return { endpoints: found.map((each) => toProto(each, known.get(each.endpointId))) };
  };
}
