import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { requireTenantId, uuidv7 } from "@vidimus/kit/ids";
import { randomBytes } from "node:crypto";
import { parseEndpointUrl, type UrlRule } from "../domain/endpoint-url.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { toProto } from "./endpoint-message.ts";

export interface CreateEndpointDeps {
  endpoints: Pick<EndpointStore, "insert">;
  urlRule: UrlRule;
}

/**
 * Implements `CreateEndpoint`. Only this answer contains the secret. It is stored in the clear,
 * because every attempt is signed with it.
 */
export function createEndpoint({
  endpoints,
  urlRule,
}: CreateEndpointDeps): MethodImpl<typeof EndpointService.method.createEndpoint> {
  return async (request) => {
    const endpoint = {
      endpointId: uuidv7(),
      tenantId: requireTenantId(request.tenantId),
      url: parseEndpointUrl(request.url, urlRule),
      secret: randomBytes(32),
      createdAt: new Date(),
    };
    await endpoints.insert(endpoint);
    return { endpoint: toProto(endpoint), secret: `whsec_${endpoint.secret.toString("base64")}` };
  };
}
