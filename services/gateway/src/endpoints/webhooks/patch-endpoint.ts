import type { Client } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Type } from "typebox";
import { ok } from "../../http/answers/answer.ts";
import { jsonParser } from "../../http/bodies/parse-json.ts";
import { defineRoute } from "../../http/route.ts";
import { endpointOf } from "./endpoint-answer.ts";
import {
  changeErrors,
  dataSchema,
  endpointExample,
  endpointParams,
  endpointPatch,
  endpointSchema,
  jsonBody,
  secretSchema,
} from "./endpoint-schemas.ts";
import { settingsOf } from "./endpoint-settings.ts";

interface PatchEndpointDeps {
  readonly endpoints: Pick<Client<typeof EndpointService>, "updateEndpoint">;
}

const parseBody = jsonParser(endpointPatch);

export const patchEndpoint = defineRoute({
  method: "PATCH",
  url: "/v1/webhooks/endpoints/:id",
  scope: "webhooks:write",
  params: endpointParams,
  body: jsonBody,
  doc: {
    operationId: "updateEndpoint",
    summary: "Change settings of a receiver",
    description:
      "Members left out stay as they are. A list, and headers, replace the ones before. A url of another origin needs " +
      "headers beside it, unless there are none: credentials of one server are not sent to another. A secret, or " +
      "rotateSecret, ends every other secret in the same step as the url changes; only the answer to rotateSecret shows one.",
    body: { "application/json": { schema: endpointPatch, example: { events: ["snapshot.usable"], maxInFlight: 4 } } },
    success: {
      status: 200,
      description: "Changed",
      content: {
        "application/json": {
          schema: dataSchema({ endpoint: endpointSchema, secret: Type.Optional(secretSchema) }),
          example: { ok: true, data: { endpoint: endpointExample } },
        },
      },
    },
    errors: changeErrors,
  },
  handler: (deps: PatchEndpointDeps) => async (call) => {
    const name = { tenantId: call.caller.tenantId, endpointId: call.params.id };
    const request = { ...name, ...settingsOf(parseBody(call.body)) };
    const { endpoint, secret } = await deps.endpoints.updateEndpoint(request, call.rpc);
    return ok(200, { endpoint: endpointOf(endpoint), ...(secret ? { secret } : {}) });
  },
});
