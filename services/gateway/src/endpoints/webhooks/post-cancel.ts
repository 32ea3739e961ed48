import type { Client } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { ok } from "../../http/answers/answer.ts";
import { defineRoute } from "../../http/route.ts";
import { replayOf } from "./delivery-answer.ts";
import { noReplay, replayExample, replayParams, replaySchema } from "./delivery-schemas.ts";
import { dataSchema } from "./endpoint-schemas.ts";

interface PostCancelDeps {
  readonly deliveries: Pick<Client<typeof DeliveryLogService>, "cancelReplay">;
}

export const postCancel = defineRoute({
  method: "POST",
  url: "/v1/webhooks/replays/:id/cancel",
  scope: "webhooks:write",
  params: replayParams,
  doc: {
    operationId: "cancelReplay",
    summary: "End a replay",
    description: "What is in flight arrives. Repeating it changes nothing.",
    success: {
      status: 200,
      description: "The replay as it stands now",
      content: {
        "application/json": {
          schema: dataSchema({ replay: replaySchema }),
          example: { ok: true, data: { replay: { ...replayExample, state: "cancelled" } } },
        },
      },
    },
    errors: noReplay,
  },
  handler: (deps: PostCancelDeps) => async (call) => {
    const name = { tenantId: call.caller.tenantId, replayId: call.params.id };
    const { replay } = await deps.deliveries.cancelReplay(name, call.rpc);
    return ok(200, { replay: replayOf(replay) });
  },
});
