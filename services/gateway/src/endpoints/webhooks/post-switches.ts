import type { Client } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { ok } from "../../http/answers/answer.ts";
import { defineRoute } from "../../http/route.ts";
import { endpointOf } from "./endpoint-answer.ts";
import { changeErrors, dataSchema, endpointExample, endpointParams, endpointSchema } from "./endpoint-schemas.ts";

interface SwitchEndpointDeps {
  readonly endpoints: Pick<Client<typeof EndpointService>, "enableEndpoint" | "disableEndpoint">;
}

const switches = [
  {
    path: "enable",
    operationId: "enableEndpoint",
    rpc: "enableEndpoint",
    summary: "Send to a receiver again, what was held first",
  },
  {
    path: "disable",
    operationId: "disableEndpoint",
    rpc: "disableEndpoint",
    summary: "Hold the deliveries to a receiver",
  },
] as const;

export const postSwitches = switches.map(({ path, operationId, rpc, summary }) =>
  defineRoute({
    method: "POST",
    url: `/v1/webhooks/endpoints/:id/${path}`,
    scope: "webhooks:write",
    params: endpointParams,
    doc: {
      operationId,
      summary,
      description: "Repeating it changes nothing.",
      success: {
        status: 200,
        description: "The endpoint as it stands now",
        content: {
          "application/json": {
            schema: dataSchema({ endpoint: endpointSchema }),
            example: { ok: true, data: { endpoint: endpointExample } },
          },
        },
      },
      errors: changeErrors,
    },
    handler: (deps: SwitchEndpointDeps) => async (call) => {
      const name = { tenantId: call.caller.tenantId, endpointId: call.params.id };
      const { endpoint } = await deps.endpoints[rpc](name, call.rpc);
      return ok(200, { endpoint: endpointOf(endpoint) });
    },
  }),
);
