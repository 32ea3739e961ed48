import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { DoorRoutes } from "@vidimus/kit/rpc/open-doors";
import { meshRoute, route, teamsRoute } from "@vidimus/kit/rpc/route";
import { createEndpoint, type CreateEndpointDeps } from "./create-endpoint.ts";
import { deleteEndpoint, type DeleteEndpointDeps } from "./delete-endpoint.ts";
import { listEndpoints, type ListEndpointsDeps } from "./list-endpoints.ts";

type EndpointRoutesDeps = CreateEndpointDeps & DeleteEndpointDeps & ListEndpointsDeps;

/** The service that delivery serves, at both doors. */
export function endpointRoutes(deps: EndpointRoutesDeps): DoorRoutes {
  const methods = route(EndpointService, {
    createEndpoint: createEndpoint(deps),
    listEndpoints: listEndpoints(deps),
    deleteEndpoint: deleteEndpoint(deps),
  });
  const mesh = meshRoute(methods, {
    createEndpoint: ["gateway"],
    listEndpoints: ["gateway"],
    deleteEndpoint: ["gateway"],
  });
  const teams = teamsRoute(methods, { createEndpoint: "write", listEndpoints: "read", deleteEndpoint: "write" });
  return { teams: [teams], mesh: [mesh] };
}
