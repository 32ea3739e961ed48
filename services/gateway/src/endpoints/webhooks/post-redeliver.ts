import type { Client } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { ok } from "../../http/answers/answer.ts";
import { defineRoute } from "../../http/route.ts";
import { attemptOf, deliveryOf } from "./delivery-answer.ts";
import {
  attemptExample,
  attemptSchema,
  deliveryExample,
  deliveryParams,
  deliverySchema,
  noDelivery,
} from "./delivery-schemas.ts";
import { dataSchema, pingTimeoutMs } from "./endpoint-schemas.ts";

interface PostRedeliverDeps {
  readonly deliveries: Pick<Client<typeof DeliveryLogService>, "redeliver">;
}

/** Attempts a delivery once more. */
export const postRedeliver = defineRoute({
  method: "POST",
  url: "/v1/webhooks/deliveries/:id/redeliver",
  scope: "webhooks:write",
  params: deliveryParams,
  doc: {
    operationId: "redeliver",
    summary: "Send a webhook once more",
    description: "One attempt, now, with the same webhook-id. Answers 200 with what came of it.",
    success: {
      status: 200,
      description: "What came of it",
      content: {
        "application/json": {
          schema: dataSchema({ delivery: deliverySchema, attempt: attemptSchema }),
          example: { ok: true, data: { delivery: deliveryExample, attempt: attemptExample } },
        },
      },
    },
    errors: { ...noDelivery, CONFLICT: "the delivery is pending, and is sent by itself" },
  },
  handler: (deps: PostRedeliverDeps) => async (call) => {
    const name = { tenantId: call.caller.tenantId, deliveryId: call.params.id };
    const answer = await deps.deliveries.redeliver(name, { ...call.rpc, timeoutMs: pingTimeoutMs });
    return ok(200, { delivery: deliveryOf(answer.delivery), attempt: attemptOf(answer.attempt) });
  },
});
