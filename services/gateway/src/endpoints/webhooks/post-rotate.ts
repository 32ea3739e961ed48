import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { Type } from "typebox";
import { ok } from "../../http/answers/answer.ts";
import { jsonParser } from "../../http/bodies/parse-json.ts";
import { defineRoute } from "../../http/route.ts";
import { endpointOf } from "./endpoint-answer.ts";
import {
  changeErrors,
  dataSchema,
  endpointExample,
  endpointParams,
  endpointSchema,
  jsonBody,
  secretExample,
  secretSchema,
} from "./endpoint-schemas.ts";

interface PostRotateDeps {
  readonly endpoints: Pick<Client<typeof EndpointService>, "rotateEndpointSecret">;
}

const overlapSecondsDefault = 86_400;

const rotation = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        default: overlapSecondsDefault,
        description: "How long webhooks are signed with the older secret, too. 0 ends every older secret at once.",
      }),
    ),
  },
  { additionalProperties: false },
);

const parseBody = jsonParser(rotation);

export const postRotate = defineRoute({
  method: "POST",
  url: "/v1/webhooks/endpoints/:id/rotate",
  scope: "webhooks:write",
  params: endpointParams,
  body: jsonBody,
  doc: {
    operationId: "rotateEndpointSecret",
    summary: "Make a new secret for a receiver",
    description:
      "Only this answer shows it. While two secrets overlap, webhooks are signed with both, and only an overlap of 0 " +
      "can follow.",
    body: { "application/json": { schema: rotation, example: { overlapSeconds: overlapSecondsDefault } } },
    success: {
      status: 200,
      description: "Rotated",
      content: {
        "application/json": {
          schema: dataSchema({ endpoint: endpointSchema, secret: secretSchema }),
          example: {
            ok: true,
            data: {
              endpoint: { ...endpointExample, previousSecretEndsAt: "2026-11-22T09:30:00.000Z" },
              secret: secretExample,
            },
          },
        },
      },
    },
    errors: changeErrors,
  },
  handler: (deps: PostRotateDeps) => async (call) => {
    const { overlapSeconds = overlapSecondsDefault } = parseBody(call.body);
    const name = { tenantId: call.caller.tenantId, endpointId: call.params.id };
    const overlap = durationFromMs(overlapSeconds * 1_000);
    const { endpoint, secret } = await deps.endpoints.rotateEndpointSecret({ ...name, overlap }, call.rpc);
    return ok(200, { endpoint: endpointOf(endpoint), secret });
  },
});
