import type { Client } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { cacheable } from "../../http/answers/answer.ts";
import { weakTag } from "../../http/answers/etag.ts";
import { defineRoute } from "../../http/route.ts";
import { replayOf } from "./delivery-answer.ts";
import { noReplay, replayExample, replayParams, replaySchema } from "./delivery-schemas.ts";
import { dataSchema } from "./endpoint-schemas.ts";

interface GetReplayDeps {
  readonly deliveries: Pick<Client<typeof DeliveryLogService>, "getReplay">;
}

export const getReplay = defineRoute({
  method: "GET",
  url: "/v1/webhooks/replays/:id",
  scope: "webhooks:read",
  params: replayParams,
  doc: {
    operationId: "getReplay",
    summary: "Read how far a replay is",
    success: {
      status: 200,
      description: "The replay",
      content: {
        "application/json": {
          schema: dataSchema({ replay: replaySchema }),
          example: { ok: true, data: { replay: replayExample } },
        },
      },
    },
    errors: noReplay,
  },
  handler: (deps: GetReplayDeps) => async (call) => {
    const name = { tenantId: call.caller.tenantId, replayId: call.params.id };
    const { replay } = await deps.deliveries.getReplay(name, call.rpc);
    const body = JSON.stringify({ ok: true, data: { replay: replayOf(replay) } });
    return cacheable(call, { etag: weakTag(body), cacheControl: "private, no-cache" }, () => body);
  },
});
