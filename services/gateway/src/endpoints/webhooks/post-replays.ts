import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { Type } from "typebox";
import { ok } from "../../http/answers/answer.ts";
import { jsonParser } from "../../http/bodies/parse-json.ts";
import { HttpError } from "../../errors/http-error.ts";
import { defineRoute } from "../../http/route.ts";
import { clampToRpc } from "../publisher/published-page.ts";
import { parseTimestamp } from "../publisher/timestamp.ts";
import { replayOf } from "./delivery-answer.ts";
import { replayExample, replaySchema, replayStates } from "./delivery-schemas.ts";
import { dataSchema, endpointParams, jsonBody, noEndpoint } from "./endpoint-schemas.ts";

interface PostReplaysDeps {
  readonly deliveries: Pick<Client<typeof DeliveryLogService>, "startReplay">;
}

const time = (description: string) => Type.String({ examples: ["2026-11-21T09:30:00.000Z"], description });

const replayInput = Type.Object(
  {
    since: Type.Optional(time("Only snapshots committed at or after it. ISO 8601, as in queries.")),
    until: Type.Optional(time("Only snapshots committed before it. Default: now.")),
    states: Type.Optional(
      Type.Array(Type.String({ enum: replayStates }), {
        minItems: 1,
        description: "Of the deliveries to send again; missing: snapshots that have none. Default: all four.",
      }),
    ),
    latestOnly: Type.Optional(
      Type.Boolean({ default: false, description: "Only the newest snapshot of each document." }),
    ),
    all: Type.Optional(
      Type.Boolean({ default: false, description: "Required without since and states, and refused with one of them." }),
    ),
  },
  { additionalProperties: false },
);

const parseBody = jsonParser(replayInput);

export const postReplays = defineRoute({
  method: "POST",
  url: "/v1/webhooks/endpoints/:id/replays",
  scope: "webhooks:write",
  params: endpointParams,
  body: jsonBody,
  doc: {
    operationId: "startReplay",
    summary: "Send a receiver snapshots again",
    description:
      "Goes on in the background, in order per document, with the same webhook-id as before and vidimus-replay-id. " +
      '{"all": true, "latestOnly": true} fills a new endpoint. One replay of an endpoint runs at a time: details of the ' +
      "409 name the one that runs.",
    body: {
      "application/json": { schema: replayInput, example: { since: replayExample.reached, states: ["exhausted"] } },
    },
    success: {
      status: 201,
      description: "Started",
      content: {
        "application/json": {
          schema: dataSchema({ replay: replaySchema }),
          example: { ok: true, data: { replay: replayExample } },
        },
      },
    },
    errors: { ...noEndpoint, CONFLICT: "another replay of this endpoint runs" },
  },
  handler: (deps: PostReplaysDeps) => async (call) => {
    const { since, until, states = [], latestOnly = false, all = false } = parseBody(call.body);
    const request = {
      tenantId: call.caller.tenantId,
      endpointId: call.params.id,
      ...(since === undefined ? {} : { since: parseTime("since", since) }),
      ...(until === undefined ? {} : { until: parseTime("until", until) }),
      states,
      latestOnly,
      all,
    };
    const { replay } = await deps.deliveries.startReplay(request, call.rpc).catch(nameRunning);
    return ok(201, { replay: replayOf(replay) });
  },
});

/**
 * Rethrows an error. One that names the replay that runs becomes a CONFLICT, with the id of that
 * replay in `details`.
 */
function nameRunning(error: unknown): never {
  const refusal = fromConnectError(error);
  const { replay_id: replayId } = refusal?.metadata ?? {};
  if (!refusal || replayId === undefined) throw error;
  const { message, reason } = refusal;
  throw new HttpError("CONFLICT", message, { details: [{ pointer: "", message, reason, replayId }] });
}

function parseTime(name: string, text: string) {
  const ms = parseTimestamp(text);
  if (ms !== undefined) return timestampFromMs(clampToRpc(ms));
  const message = "must be an ISO 8601 timestamp";
  throw new HttpError("INVALID_PAYLOAD", `${name} ${message}`, { details: [{ pointer: `/${name}`, message }] });
}
