import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";

/** The endpoint that the URL names. NOT_FOUND when the tenant has no such endpoint. */
export async function readEndpoint(
  endpoints: Pick<EndpointCalls, "getEndpoint">,
  { tenant: { tenantId }, params, rpc }: TenantCall,
): Promise<Endpoint> {
  const { endpoint } = await endpoints.getEndpoint({ tenantId, endpointId: params["endpoint"] ?? "" }, rpc);
  if (!endpoint) throw new Error("GetEndpoint answered no endpoint");
  return endpoint;
}

/** From the id of an endpoint to its name, for all endpoints of a tenant. */
export type EndpointNames = ReadonlyMap<string, string>;

/** Delivery makes up to three searches for each endpoint's health; `endpointNames` needs none. */
export async function listedEndpoints(
  endpoints: Pick<EndpointCalls, "listEndpoints">,
  { tenant: { tenantId }, rpc }: TenantCall,
): Promise<readonly Endpoint[]> {
  return (await endpoints.listEndpoints({ tenantId }, rpc)).endpoints;
}

export async function endpointNames(
  endpoints: Pick<EndpointCalls, "listEndpoints">,
  { tenant: { tenantId }, rpc }: TenantCall,
): Promise<EndpointNames> {
  const { endpoints: found } = await endpoints.listEndpoints({ tenantId, namesOnly: true }, rpc);
  return namesOf(found);
}

export function namesOf(endpoints: readonly Endpoint[]): EndpointNames {
  return new Map(endpoints.map(({ endpointId, name }) => [endpointId, name]));
}
