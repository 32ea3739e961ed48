import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { toProto } from "./endpoint-message.ts";

export interface ListEndpointsDeps {
  endpoints: Pick<EndpointStore, "list">;
}

/** Implements `ListEndpoints`. */
export function listEndpoints({
  endpoints,
}: ListEndpointsDeps): MethodImpl<typeof EndpointService.method.listEndpoints> {
  return async (request, context) => {
    const found = await endpoints.list(requireTenantId(request.tenantId), context.signal);
    return { endpoints: found.map(toProto) };
  };
}
