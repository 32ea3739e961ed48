import type { Client } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Type } from "typebox";
import { ok } from "../../http/answers/answer.ts";
import { jsonParser } from "../../http/bodies/parse-json.ts";
import { defineRoute } from "../../http/route.ts";
import { endpointOf, pingOf } from "./endpoint-answer.ts";
import {
  dataSchema,
  endpointExample,
  endpointInput,
  endpointSchema,
  jsonBody,
  pingSchema,
  pingTimeoutMs,
  secretExample,
  secretSchema,
} from "./endpoint-schemas.ts";
import { settingsOf } from "./endpoint-settings.ts";

interface PostEndpointsDeps {
  readonly endpoints: Pick<Client<typeof EndpointService>, "createEndpoint">;
}

const parseBody = jsonParser(endpointInput);

export const postEndpoints = defineRoute({
  method: "POST",
  url: "/v1/webhooks/endpoints",
  scope: "webhooks:write",
  body: jsonBody,
  doc: {
    operationId: "createEndpoint",
    summary: "Register a receiver of webhooks",
    description:
      "Only this answer shows the secret that was made; one that you give is not shown at all, and secret is null. A " +
      "tenant has at most 100 endpoints.",
    body: {
      "application/json": {
        schema: endpointInput,
        example: { url: endpointExample.url, documentTypes: ["core/article"], headers: { "X-Team": "news" } },
      },
    },
    success: {
      status: 201,
      description: "Registered",
      content: {
        "application/json": {
          schema: dataSchema({
            endpoint: endpointSchema,
            secret: Type.Union([secretSchema, Type.Null()]),
            ping: Type.Optional(pingSchema),
          }),
          example: { ok: true, data: { endpoint: endpointExample, secret: secretExample } },
        },
      },
    },
    errors: { CONFLICT: "the tenant has 100 endpoints, which is the most" },
  },
  handler: (deps: PostEndpointsDeps) => async (call) => {
    const { enabled = true, verify = false, url, ...settings } = parseBody(call.body);
    const request = { tenantId: call.caller.tenantId, ...settingsOf(settings), url, disabled: !enabled, verify };
    const made = await deps.endpoints.createEndpoint(request, { ...call.rpc, timeoutMs: pingTimeoutMs });
    const ping = verify ? { ping: pingOf(made.ping) } : {};
    return ok(201, { endpoint: endpointOf(made.endpoint), secret: made.secret || null, ...ping });
  },
});
