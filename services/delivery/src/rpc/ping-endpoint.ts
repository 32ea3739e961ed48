import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { PingResultSchema } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { uuidv7 } from "@vidimus/kit/ids";
import { isAccepted } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { webhookHeaders } from "../domain/webhook-headers.ts";
import type { PostWebhook } from "../net/post-webhook.ts";

/** Posts a signed `endpoint.ping` once. It is signed only by HMAC, because it is no snapshot. */
export async function pingEndpoint(
  post: PostWebhook,
  endpoint: Endpoint,
): Promise<MessageInitShape<typeof PingResultSchema>> {
  const { tenantId, endpointId, url } = endpoint;
  const at = new Date();
  const deliveryId = uuidv7();
  const webhookId = `png_${deliveryId.replaceAll("-", "")}`;
  const event = "endpoint.ping";
  const ping = { id: webhookId, type: event, timestamp: at.toISOString(), data: { tenantId, endpointId } };
  const payload = { webhookId, event, body: Buffer.from(JSON.stringify(ping)) };
  const headers = webhookHeaders({ payload, endpoint, deliveryId, attempt: 1, at });
  const outcome = await post({ url, headers, body: payload.body });
  const { status = 0, failure = "", detail = "", answer = "", tookMs } = outcome;
  return { accepted: isAccepted(outcome), status, failure, detail, answer, took: durationFromMs(tookMs) };
}
