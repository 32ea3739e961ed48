import type { Client } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Type } from "typebox";
import { ok } from "../../http/answers/answer.ts";
import { defineRoute } from "../../http/route.ts";
import { dataSchema, endpointExample, endpointParams, noEndpoint } from "./endpoint-schemas.ts";

interface DeleteEndpointDeps {
  readonly endpoints: Pick<Client<typeof EndpointService>, "deleteEndpoint">;
}

export const deleteEndpoint = defineRoute({
  method: "DELETE",
  url: "/v1/webhooks/endpoints/:id",
  scope: "webhooks:write",
  params: endpointParams,
  doc: {
    operationId: "deleteEndpoint",
    summary: "Remove a receiver and its pending deliveries",
    success: {
      status: 200,
      description: "Removed",
      content: {
        "application/json": {
          schema: dataSchema({ id: Type.String({ format: "uuid" }) }),
          example: { ok: true, data: { id: endpointExample.id } },
        },
      },
    },
    errors: noEndpoint,
  },
  handler: (deps: DeleteEndpointDeps) => async (call) => {
    await deps.endpoints.deleteEndpoint({ tenantId: call.caller.tenantId, endpointId: call.params.id }, call.rpc);
    return ok(200, { id: call.params.id.toLowerCase() });
  },
});
