import type { Client } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { Type } from "typebox";
import { cacheable } from "../../http/answers/answer.ts";
import { weakTag } from "../../http/answers/etag.ts";
import { defineRoute } from "../../http/route.ts";
import { cursorParameter, limitParameter, pageSchema, readLimit } from "../publisher/published-page.ts";
import { replayOf } from "./delivery-answer.ts";
import { replayExample, replaySchema } from "./delivery-schemas.ts";
import { endpointParams, noEndpoint } from "./endpoint-schemas.ts";

interface GetReplaysDeps {
  readonly deliveries: Pick<Client<typeof DeliveryLogService>, "listReplays">;
}

const query = Type.Object({ limit: limitParameter, cursor: cursorParameter }, { additionalProperties: false });

export const getReplays = defineRoute({
  method: "GET",
  url: "/v1/webhooks/endpoints/:id/replays",
  scope: "webhooks:read",
  params: endpointParams,
  query,
  doc: {
    operationId: "listReplays",
    summary: "Read the replays of a receiver",
    description: "Newest first: those that run, and those that ended in the last 30 days.",
    success: {
      status: 200,
      description: "One page",
      content: {
        "application/json": {
          schema: pageSchema(replaySchema),
          example: { ok: true, data: { items: [replayExample], nextCursor: "", hasMore: false } },
        },
      },
    },
    errors: noEndpoint,
  },
  handler: (deps: GetReplaysDeps) => async (call) => {
    const { limit, cursor: pageToken = "" } = call.query;
    const name = { tenantId: call.caller.tenantId, endpointId: call.params.id };
    const request = { ...name, limit: readLimit(limit), pageToken };
    const { replays, nextPageToken } = await deps.deliveries.listReplays(request, call.rpc);
    const data = { items: replays.map(replayOf), nextCursor: nextPageToken, hasMore: nextPageToken !== "" };
    const body = JSON.stringify({ ok: true, data });
    return cacheable(call, { etag: weakTag(body), cacheControl: "private, no-cache" }, () => body);
  },
});
