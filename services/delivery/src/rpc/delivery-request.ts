import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeliveryRequestSchema } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { fromConnectError } from "@vidimus/kit/rpc/errors/error-table";
import { deliveryIdOf } from "../domain/delivery.ts";
import type { LoggedDelivery } from "../domain/delivery-log.ts";
import { noticePayload } from "../domain/endpoint-notice.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { hiddenValue, isHiddenHeader } from "../domain/hidden-headers.ts";
import type { Postable } from "../domain/payload.ts";
import { webhookHeaders } from "../domain/webhook-headers.ts";
import type { ResendDeps } from "../replay/resend.ts";

export type DeliveryRequestDeps = Pick<ResendDeps, "payloads">;

/**
 * The request of a delivery's last attempt (or of its first, when there was none yet) as a message,
 * computed from the snapshot and its current signature, or the notice, and from the endpoint's
 * current settings.
 *
 * @returns undefined when documents or signing have no such snapshot
 */
export async function recomputedRequest(
  deps: DeliveryRequestDeps,
  delivery: LoggedDelivery,
  endpoint: Endpoint,
): Promise<MessageInitShape<typeof DeliveryRequestSchema> | undefined> {
  const payload = await payloadOf(deps, delivery);
  if (!payload) return undefined;
  const last = delivery.attempts.at(-1);
  const headers = webhookHeaders({
    payload,
    endpoint,
    deliveryId: deliveryIdOf(endpoint, payload.webhookId),
    attempt: last?.number ?? Math.max(delivery.attemptCount, 1),
    at: last?.startedAt ?? new Date(),
    ...(last?.replayId === undefined ? {} : { replayId: last.replayId }),
  });
  const shown = Object.entries(headers).map(([name, value]) => {
    return { name, value: isHiddenHeader(name) ? hiddenValue : value };
  });
  return { recomputed: true, url: endpoint.url, headers: shown, body: payload.body };
}

async function payloadOf({ payloads }: DeliveryRequestDeps, delivery: LoggedDelivery): Promise<Postable | undefined> {
  if (delivery.notice) return noticePayload(delivery, delivery.notice);
  try {
    return await payloads.get(delivery);
  } catch (error) {
    throw fromConnectError(error) ?? error;
  }
}
