import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { uuidv7 } from "@vidimus/kit/uuid";
import { randomBytes } from "node:crypto";
import { parseEndpointUrl, type UrlRule } from "../domain/endpoint-url.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { parseTenantId } from "./tenant-id.ts";
import { toEndpointMessage } from "./endpoint-message.ts";

/**
 * Registers a receiver. Its secret is answered here and never again; it rests in the clear, since every attempt is
 * signed with it.
 */
export function createEndpoint(deps: {
  endpoints: Pick<EndpointStore, "insert">;
  urlRule: UrlRule;
}): MethodImpl<typeof EndpointService.method.createEndpoint> {
  return async (request) => {
    const endpoint = {
      endpointId: uuidv7(),
      tenantId: parseTenantId(request.tenantId),
      url: parseEndpointUrl(request.url, deps.urlRule),
      secret: randomBytes(32),
      createdAt: new Date(),
    };
    await deps.endpoints.insert(endpoint);
    return { endpoint: toEndpointMessage(endpoint), secret: `whsec_${endpoint.secret.toString("base64")}` };
  };
}
