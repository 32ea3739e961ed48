import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { toProto } from "./endpoint-message.ts";

export interface GetEndpointDeps {
  endpoints: Pick<EndpointStore, "find">;
}

/** Implements `GetEndpoint`. */
export function getEndpoint({ endpoints }: GetEndpointDeps): MethodImpl<typeof EndpointService.method.getEndpoint> {
  return async (request, { signal }) => ({ endpoint: toProto(await requireEndpoint(endpoints, request, signal)) });
}
