import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { PostWebhook } from "../net/post-webhook.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import type { MayChange } from "./may-change.ts";
import { pingEndpoint } from "./ping-endpoint.ts";

export interface TestEndpointDeps {
  endpoints: Pick<EndpointStore, "find">;
  post: PostWebhook;
}

/** Implements `TestEndpoint`. */
export function testEndpoint(
  { endpoints, post }: TestEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.testEndpoint> {
  return async (request, context) => {
    mayChange(context);
    return { ping: await pingEndpoint(post, await requireEndpoint(endpoints, request, context.signal)) };
  };
}
