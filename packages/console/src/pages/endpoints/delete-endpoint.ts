import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";
import { confirmPage } from "../parts/confirm.ts";
import { type Html, html } from "../../markup/html.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { lagOf } from "./endpoint-state.ts";
import { readEndpoint } from "./read-endpoint.ts";

const path = "/endpoints/:endpoint/delete";

export function askToDeleteEndpoint({
  endpoints,
}: {
  readonly endpoints: Pick<EndpointCalls, "getEndpoint">;
}): TenantRoute {
  return tenantPage({
    path,
    right: "endpoints",
    load: (call) => readEndpoint(endpoints, call),
    view: (endpoint, call) => ({ title: "Delete an endpoint", main: deleteForm(endpoint, call) }),
  });
}

export function deleteEndpoint({
  endpoints,
}: {
  readonly endpoints: Pick<EndpointCalls, "deleteEndpoint">;
}): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "endpoints",
    handle: async ({ tenant: { tenantId }, params, rpc, at }) => {
      await endpoints.deleteEndpoint({ tenantId, endpointId: params["endpoint"] ?? "" }, rpc);
      return { to: at("/endpoints?done=deleted") };
    },
  };
}

function deleteForm(endpoint: Endpoint, { at, now }: TenantCall): Html {
  const { endpointId, name, url } = endpoint;
  return confirmPage({
    title: html`Delete “<bdi>${name}</bdi>”?`,
    consequence: html`Nothing is posted to <bdi>${url}</bdi> any more, what waits for it is dropped (now:
      ${lagOf(endpoint, now)}), and its secret is gone. This cannot be undone.
      ${!endpoint.disablement && "To keep what waits, pause it instead."}`,
    action: at(`/endpoints/${endpointId}/delete`),
    button: "Delete the endpoint",
    isDanger: true,
    back: at(`/endpoints/${endpointId}`),
  });
}
