import { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { listAuditEntries, type ListAuditEntriesDeps } from "@vidimus/tenancy/audit/list-audit-entries";
import type { DoorRoutes } from "@vidimus/kit/service/open-doors";
import { meshRoute, partialRoute, route, teamsRoute } from "@vidimus/kit/rpc/doors/shared/route";
import { createEndpoint, type CreateEndpointDeps } from "./create-endpoint.ts";
import { deleteEndpoint, type DeleteEndpointDeps } from "./delete-endpoint.ts";
import { disableEndpoint } from "./disable-endpoint.ts";
import { enableEndpoint, type EnableEndpointDeps } from "./enable-endpoint.ts";
import type { EndpointSettingsDeps } from "./endpoint-settings.ts";
import type { KnownTypesDeps } from "./known-types.ts";
import { getEndpoint, type GetEndpointDeps } from "./get-endpoint.ts";
import { listEndpoints, type ListEndpointsDeps } from "./list-endpoints.ts";
import { integratorsMayChange, gatewayMayChange, type MayChange } from "./may-change.ts";
import { rotateEndpointSecret } from "./rotate-endpoint-secret.ts";
import { testEndpoint, type TestEndpointDeps } from "./test-endpoint.ts";
import { updateEndpoint } from "./update-endpoint.ts";

type EndpointRoutesDeps = CreateEndpointDeps &
  DeleteEndpointDeps &
  EnableEndpointDeps &
  EndpointSettingsDeps &
  GetEndpointDeps &
  KnownTypesDeps &
  ListAuditEntriesDeps &
  ListEndpointsDeps &
  TestEndpointDeps;

/** Both doors serve the management of endpoints; only the teams door serves the audit log, too. */
export function endpointRoutes(deps: EndpointRoutesDeps): DoorRoutes {
  const mesh = meshRoute(partialRoute(EndpointService, methodsOf(deps, gatewayMayChange)), {
    createEndpoint: ["gateway"],
    listEndpoints: ["gateway"],
    getEndpoint: ["gateway"],
    updateEndpoint: ["gateway"],
    enableEndpoint: ["gateway"],
    disableEndpoint: ["gateway"],
    rotateEndpointSecret: ["gateway"],
    testEndpoint: ["gateway"],
    deleteEndpoint: ["gateway"],
  });
  const own = { ...methodsOf(deps, integratorsMayChange), listAuditEntries: listAuditEntries(deps) };
  const teams = teamsRoute(route(EndpointService, own), {
    createEndpoint: "write",
    listEndpoints: "read",
    getEndpoint: "read",
    updateEndpoint: "write",
    enableEndpoint: "write",
    disableEndpoint: "write",
    rotateEndpointSecret: "write",
    testEndpoint: "write",
    deleteEndpoint: "write",
    listAuditEntries: "read",
  });
  return { teams: [teams], mesh: [mesh] };
}

function methodsOf(deps: EndpointRoutesDeps, mayChange: MayChange) {
  return {
    createEndpoint: createEndpoint(deps, mayChange),
    listEndpoints: listEndpoints(deps),
    getEndpoint: getEndpoint(deps),
    updateEndpoint: updateEndpoint(deps, mayChange),
    enableEndpoint: enableEndpoint(deps, mayChange),
    disableEndpoint: disableEndpoint(deps, mayChange),
    rotateEndpointSecret: rotateEndpointSecret(deps, mayChange),
    testEndpoint: testEndpoint(deps, mayChange),
    deleteEndpoint: deleteEndpoint(deps, mayChange),
  };
}
