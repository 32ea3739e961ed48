import type { TenantRoute } from "../../http/route.ts";
import { createEndpoint, type CreateEndpointDeps } from "./create-endpoint.ts";
import { askToDeleteEndpoint, deleteEndpoint } from "./delete-endpoint.ts";
import { editEndpoint, updateEndpoint } from "./edit-endpoint.ts";
import { listEndpoints } from "./list-endpoints.ts";
import { newEndpoint } from "./new-endpoint.ts";
import { askToRotateSecret, rotateSecret } from "./rotate-secret.ts";
import { showEndpoint, type ShowEndpointDeps } from "./show-endpoint.ts";
import { pauseEndpoint, startEndpoint } from "./switch-endpoint.ts";
import { testEndpoint } from "./test-endpoint.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";

interface EndpointRoutesDeps extends Pick<CreateEndpointDeps, "sentForms">, Pick<ShowEndpointDeps, "members"> {
  readonly endpoints: EndpointCalls;
}

export function endpointRoutes(deps: EndpointRoutesDeps): TenantRoute[] {
  return [
    listEndpoints(deps),
    newEndpoint(),
    createEndpoint(deps),
    showEndpoint(deps),
    editEndpoint(deps),
    updateEndpoint(deps),
    pauseEndpoint(deps),
    startEndpoint(deps),
    askToRotateSecret(deps),
    rotateSecret(deps),
    testEndpoint(deps),
    askToDeleteEndpoint(deps),
    deleteEndpoint(deps),
  ];
}
