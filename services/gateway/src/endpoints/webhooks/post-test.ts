import type { Client } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { ok } from "../../http/answers/answer.ts";
import { defineRoute } from "../../http/route.ts";
import { pingOf } from "./endpoint-answer.ts";
import { dataSchema, endpointParams, noEndpoint, pingExample, pingSchema, pingTimeoutMs } from "./endpoint-schemas.ts";

interface PostTestDeps {
  readonly endpoints: Pick<Client<typeof EndpointService>, "testEndpoint">;
}

export const postTest = defineRoute({
  method: "POST",
  url: "/v1/webhooks/endpoints/:id/test",
  scope: "webhooks:write",
  params: endpointParams,
  doc: {
    operationId: "testEndpoint",
    summary: "Post a signed ping to a receiver",
    description:
      "Answers 200 with what came of it, also when the receiver refused it or cannot be reached. When the receiver " +
      "accepts it, everything that is pending for it is due at once.",
    success: {
      status: 200,
      description: "What came of it",
      content: {
        "application/json": {
          schema: dataSchema({ ping: pingSchema }),
          example: { ok: true, data: { ping: pingExample } },
        },
      },
    },
    errors: noEndpoint,
  },
  handler: (deps: PostTestDeps) => async (call) => {
    const name = { tenantId: call.caller.tenantId, endpointId: call.params.id };
    const { ping } = await deps.endpoints.testEndpoint(name, { ...call.rpc, timeoutMs: pingTimeoutMs });
    return ok(200, { ping: pingOf(ping) });
  },
});
