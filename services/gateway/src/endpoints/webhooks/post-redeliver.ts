import type { Client } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Type } from "typebox";
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

export const postRedeliver = defineRoute({
  method: "POST",
  url: "/v1/webhooks/deliveries/:id/redeliver",
  scope: "webhooks:write",
  params: deliveryParams,
  doc: {
    operationId: "redeliver",
    summary: "Send a webhook once more",
    description:
      "A delivery that has reached a final state gets one attempt now, with the same webhook-id, and none after it. " +
      "Answers 200 with what came of it. A pending one is due at once instead, and attempt is null.",
    success: {
      status: 200,
      description: "What came of it",
      content: {
        "application/json": {
          schema: dataSchema({ delivery: deliverySchema, attempt: Type.Union([attemptSchema, Type.Null()]) }),
          example: { ok: true, data: { delivery: deliveryExample, attempt: attemptExample } },
        },
      },
    },
    errors: { ...noDelivery, CONFLICT: "the delivery is held, and is sent when its endpoint is enabled" },
  },
  handler: (deps: PostRedeliverDeps) => async (call) => {
    const name = { tenantId: call.caller.tenantId, deliveryId: call.params.id };
    const { delivery, attempt } = await deps.deliveries.redeliver(name, { ...call.rpc, timeoutMs: pingTimeoutMs });
    return ok(200, { delivery: deliveryOf(delivery), attempt: attempt ? attemptOf(attempt) : null });
  },
});
