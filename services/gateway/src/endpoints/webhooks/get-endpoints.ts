import type { Client } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Type } from "typebox";
import { cacheable } from "../../http/answers/answer.ts";
import { weakTag } from "../../http/answers/etag.ts";
import { defineRoute } from "../../http/route.ts";
import { endpointWithHealthOf } from "./endpoint-answer.ts";
import { dataSchema, endpointWithHealthExample, endpointWithHealthSchema } from "./endpoint-schemas.ts";

interface GetEndpointsDeps {
  readonly endpoints: Pick<Client<typeof EndpointService>, "listEndpoints">;
}

export const getEndpoints = defineRoute({
  method: "GET",
  url: "/v1/webhooks/endpoints",
  scope: "webhooks:read",
  doc: {
    operationId: "listEndpoints",
    summary: "Read the receivers of webhooks",
    description: "All of them, oldest first, each with its health.",
    success: {
      status: 200,
      description: "The endpoints",
      content: {
        "application/json": {
          schema: dataSchema({ endpoints: Type.Array(endpointWithHealthSchema) }),
          example: { ok: true, data: { endpoints: [endpointWithHealthExample] } },
        },
      },
    },
  },
  handler: (deps: GetEndpointsDeps) => async (call) => {
    const { endpoints } = await deps.endpoints.listEndpoints({ tenantId: call.caller.tenantId }, call.rpc);
    const body = JSON.stringify({ ok: true, data: { endpoints: endpoints.map(endpointWithHealthOf) } });
    return cacheable(call, { etag: weakTag(body), cacheControl: "private, no-cache" }, () => body);
  },
});
