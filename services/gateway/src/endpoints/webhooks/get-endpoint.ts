import type { Client } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { cacheable } from "../../http/answers/answer.ts";
import { weakTag } from "../../http/answers/etag.ts";
import { defineRoute } from "../../http/route.ts";
import { endpointWithHealthOf } from "./endpoint-answer.ts";
import {
  dataSchema,
  endpointWithHealthExample,
  endpointParams,
  endpointWithHealthSchema,
  noEndpoint,
} from "./endpoint-schemas.ts";

interface GetEndpointDeps {
  readonly endpoints: Pick<Client<typeof EndpointService>, "getEndpoint">;
}

export const getEndpoint = defineRoute({
  method: "GET",
  url: "/v1/webhooks/endpoints/:id",
  scope: "webhooks:read",
  params: endpointParams,
  doc: {
    operationId: "getEndpoint",
    summary: "Read a receiver of webhooks, and how it does",
    success: {
      status: 200,
      description: "The endpoint",
      content: {
        "application/json": {
          schema: dataSchema({ endpoint: endpointWithHealthSchema }),
          example: { ok: true, data: { endpoint: endpointWithHealthExample } },
        },
      },
    },
    errors: noEndpoint,
  },
  handler: (deps: GetEndpointDeps) => async (call) => {
    const name = { tenantId: call.caller.tenantId, endpointId: call.params.id };
    const { endpoint } = await deps.endpoints.getEndpoint(name, call.rpc);
    const body = JSON.stringify({ ok: true, data: { endpoint: endpointWithHealthOf(endpoint) } });
    return cacheable(call, { etag: weakTag(body), cacheControl: "private, no-cache" }, () => body);
  },
});
