import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { route, type RpcRoute } from "@vidimus/kit/rpc/server";
import { createEndpoint, type CreateEndpointDeps } from "./create-endpoint.ts";
import { deleteEndpoint, type DeleteEndpointDeps } from "./delete-endpoint.ts";
import { listEndpoints, type ListEndpointsDeps } from "./list-endpoints.ts";

type EndpointRoutesDeps = CreateEndpointDeps & DeleteEndpointDeps & ListEndpointsDeps;

/** The service that delivery serves. */
export function endpointRoutes(deps: EndpointRoutesDeps): RpcRoute[] {
  return [
    route(EndpointService, {
      createEndpoint: createEndpoint(deps),
      listEndpoints: listEndpoints(deps),
      deleteEndpoint: deleteEndpoint(deps),
    }),
  ];
}
