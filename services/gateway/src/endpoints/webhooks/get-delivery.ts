import type { Client } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Type } from "typebox";
import { cacheable } from "../../http/answers/answer.ts";
import { weakTag } from "../../http/answers/etag.ts";
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
import { dataSchema } from "./endpoint-schemas.ts";

interface GetDeliveryDeps {
  readonly deliveries: Pick<Client<typeof DeliveryLogService>, "getDelivery">;
}

/** One delivery with its attempts. */
export const getDelivery = defineRoute({
  method: "GET",
  url: "/v1/webhooks/deliveries/:id",
  scope: "webhooks:read",
  params: deliveryParams,
  doc: {
    operationId: "getDelivery",
    summary: "Read the attempts of a delivery",
    success: {
      status: 200,
      description: "The delivery, and its last 50 attempts, oldest first",
      content: {
        "application/json": {
          schema: dataSchema({ delivery: deliverySchema, attempts: Type.Array(attemptSchema, { maxItems: 50 }) }),
          example: { ok: true, data: { delivery: deliveryExample, attempts: [attemptExample] } },
        },
      },
    },
    errors: noDelivery,
  },
  handler: (deps: GetDeliveryDeps) => async (call) => {
    const name = { tenantId: call.caller.tenantId, deliveryId: call.params.id };
    const { delivery, attempts } = await deps.deliveries.getDelivery(name, call.rpc);
    const data = { delivery: deliveryOf(delivery), attempts: attempts.map(attemptOf) };
    const body = JSON.stringify({ ok: true, data });
    return cacheable(call, { etag: weakTag(body), cacheControl: "private, no-cache" }, () => body);
  },
});
