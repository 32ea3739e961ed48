import type { Client } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Type } from "typebox";
import { cacheable } from "../../http/answers/answer.ts";
import { weakTag } from "../../http/answers/etag.ts";
import { HttpError } from "../../errors/http-error.ts";
import { defineRoute } from "../../http/route.ts";
import { attemptOf, deliveryOf, requestOf } from "./delivery-answer.ts";
import {
  attemptExample,
  attemptSchema,
  deliveryExample,
  deliveryParams,
  deliverySchema,
  noDelivery,
  requestExample,
  requestSchema,
} from "./delivery-schemas.ts";
import { dataSchema } from "./endpoint-schemas.ts";

const query = Type.Object(
  { include: Type.Optional(Type.String({ enum: ["request"], "x-must": "request" })) },
  { additionalProperties: false },
);

interface GetDeliveryDeps {
  readonly deliveries: Pick<Client<typeof DeliveryLogService>, "getDelivery">;
}

export const getDelivery = defineRoute({
  method: "GET",
  url: "/v1/webhooks/deliveries/:id",
  scope: "webhooks:read",
  params: deliveryParams,
  query,
  doc: {
    operationId: "getDelivery",
    summary: "Read the attempts of a delivery",
    description:
      "include=request adds the request of the last attempt. Bodies are not stored: it is computed again from the snapshot, " +
      "its signature and the endpoint of now, and null when one of them is gone. It shows a document as a receiver gets " +
      "it, so the key needs webhooks:write, too.",
    success: {
      status: 200,
      description: "The delivery, and its last 50 attempts, oldest first",
      content: {
        "application/json": {
          schema: dataSchema({
            delivery: deliverySchema,
            attempts: Type.Array(attemptSchema, { maxItems: 50 }),
            request: Type.Optional(Type.Union([requestSchema, Type.Null()])),
          }),
          example: {
            ok: true,
            data: { delivery: deliveryExample, attempts: [attemptExample], request: requestExample },
          },
        },
      },
    },
    errors: noDelivery,
  },
  handler: (deps: GetDeliveryDeps) => async (call) => {
    const includeRequest = call.query.include === "request";
    if (includeRequest) requireWriteScope(call.caller.scopes);
    const name = { tenantId: call.caller.tenantId, deliveryId: call.params.id, includeRequest };
    const { delivery, attempts, request } = await deps.deliveries.getDelivery(name, call.rpc);
    const sent = includeRequest ? { request: request ? requestOf(request) : null } : {};
    const data = { delivery: deliveryOf(delivery), attempts: attempts.map(attemptOf), ...sent };
    const body = JSON.stringify({ ok: true, data });
    return cacheable(call, { etag: weakTag(body), cacheControl: "private, no-cache" }, () => body);
  },
});

/**
 * `include=request` may show the body of a withheld document, which no scope for reading allows.
 * The scope webhooks:write is enough, because its holder could have the document sent to an
 * endpoint of their own anyway.
 */
function requireWriteScope(scopes: readonly string[]): void {
  if (scopes.includes("webhooks:write")) return;
  throw new HttpError("FORBIDDEN", "the key lacks the scope webhooks:write, which include=request needs");
}
