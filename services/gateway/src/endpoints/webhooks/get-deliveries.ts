import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Type } from "typebox";
import { cacheable } from "../../http/answers/answer.ts";
import { weakTag } from "../../http/answers/etag.ts";
import { HttpError } from "../../errors/http-error.ts";
import { defineRoute } from "../../http/route.ts";
import { clampToRpc, cursorParameter, limitParameter, pageSchema, readLimit } from "../publisher/published-page.ts";
import { parseTimestamp } from "../publisher/timestamp.ts";
import { deliveryOf } from "./delivery-answer.ts";
import { deliveryExample, deliverySchema, idQuery, stateQuery, timeQuery, webhookIdQuery } from "./delivery-schemas.ts";

interface GetDeliveriesDeps {
  readonly deliveries: Pick<Client<typeof DeliveryLogService>, "listDeliveries">;
}

const query = Type.Object(
  {
    endpointId: Type.Optional(idQuery),
    documentId: Type.Optional(idQuery),
    webhookId: Type.Optional(webhookIdQuery),
    state: Type.Optional(stateQuery),
    since: Type.Optional(timeQuery),
    until: Type.Optional(timeQuery),
    limit: limitParameter,
    cursor: cursorParameter,
  },
  { additionalProperties: false },
);

export const getDeliveries = defineRoute({
  method: "GET",
  url: "/v1/webhooks/deliveries",
  scope: "webhooks:read",
  query,
  doc: {
    operationId: "listDeliveries",
    summary: "Read what became of webhooks",
    description:
      "Newest first, each with its last attempt. since and until are about when a delivery was stored. Follow " +
      "nextCursor until hasMore is false. Finished deliveries are kept for 30 days.",
    success: {
      status: 200,
      description: "One page",
      content: {
        "application/json": {
          schema: pageSchema(deliverySchema),
          example: { ok: true, data: { items: [deliveryExample], nextCursor: "", hasMore: false } },
        },
      },
    },
  },
  handler: (deps: GetDeliveriesDeps) => async (call) => {
    const { endpointId = "", documentId = "", webhookId = "", state, since, until, limit, cursor = "" } = call.query;
    const request = {
      tenantId: call.caller.tenantId,
      endpointId,
      documentId,
      webhookId,
      states: state === undefined ? [] : [state],
      ...(since === undefined ? {} : { since: parseTime("since", since) }),
      ...(until === undefined ? {} : { until: parseTime("until", until) }),
      limit: readLimit(limit),
      pageToken: cursor,
    };
    const { deliveries, nextPageToken } = await deps.deliveries.listDeliveries(request, call.rpc);
    const data = { items: deliveries.map(deliveryOf), nextCursor: nextPageToken, hasMore: nextPageToken !== "" };
    const body = JSON.stringify({ ok: true, data });
    return cacheable(call, { etag: weakTag(body), cacheControl: "private, no-cache" }, () => body);
  },
});

function parseTime(name: string, text: string) {
  const ms = parseTimestamp(text);
  if (ms !== undefined) return timestampFromMs(clampToRpc(ms));
  throw new HttpError("INVALID_QUERY", `query parameter "${name}" must be an ISO 8601 timestamp`);
}
