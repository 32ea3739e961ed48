import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { requireOpened } from "../domain/change-endpoint.ts";
import type { PostWebhook } from "../net/post-webhook.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { EndpointKey } from "../domain/endpoint-key.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import type { MayChange } from "./may-change.ts";
import { pingEndpoint } from "./ping-endpoint.ts";

export interface TestEndpointDeps {
  endpoints: Pick<EndpointStore, "find">;
  post: PostWebhook;
  /** Ends the backoffs of an endpoint's lanes, and makes a probe due when its breaker is open. */
  expediteAll: (endpoint: EndpointKey) => Promise<void>;
}

export function testEndpoint(
  { endpoints, post, expediteAll }: TestEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.testEndpoint> {
  return async (request, context) => {
    mayChange(context);
    const endpoint = await requireEndpoint(endpoints, request, context.signal);
    requireOpened(endpoint);
    const ping = await pingEndpoint(post, endpoint);
    if (ping.accepted) await expediteAll(endpoint);
    return { ping };
  };
}
