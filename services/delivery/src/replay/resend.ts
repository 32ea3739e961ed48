import type { AttemptOutcome } from "../domain/delivery.ts";
import { deliveryIdOf, isAccepted } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import type { Postable, Reference } from "../domain/payload.ts";
import { webhookHeaders } from "../domain/webhook-headers.ts";
import type { PostWebhook } from "../net/post-webhook.ts";
import { attemptOf } from "../net/trace-attempts.ts";
import type { Resent } from "../store/delivery-log-store.ts";

export interface ResendDeps {
  readonly payloads: { get(reference: Reference): Promise<Postable | undefined> };
  readonly post: PostWebhook;
  /** `DeliveryLogStore.recordResent`; may be batched. */
  readonly record: (resent: Resent) => Promise<void>;
}

interface Resend {
  readonly endpoint: Endpoint;
  readonly reference: Reference;
  /** The replay, or an id of its own for a redelivery; sent as a header of the webhook. */
  readonly replayId: string;
  /** Sent as `vidimus-attempt`: from 1 in a replay, the delivery's next number in a redelivery. */
  readonly attempt: number;
  /** Whether no attempt follows this outcome, even if the receiver has not accepted. */
  readonly isLast: (outcome: AttemptOutcome) => boolean;
}

/**
 * Posts a webhook once, outside of its lane, and records the attempt. When the process dies between
 * post and record, the replay's next process posts the webhook again, with the same id.
 *
 * @returns undefined when documents or signing have no such snapshot, or the endpoint does not ask
 * for its event
 */
export async function resend(
  { payloads, post, record }: ResendDeps,
  { endpoint, reference, replayId, attempt, isLast }: Resend,
): Promise<AttemptOutcome | undefined> {
  const payload = await payloads.get(reference);
  if (!payload || !endpoint.events.some((event) => event === payload.event)) return undefined;
  const { webhookId, signingNumber } = payload;
  const deliveryId = deliveryIdOf(endpoint, webhookId);
  const headers = webhookHeaders({ payload, endpoint, deliveryId, attempt, at: new Date(), replayId });
  const { endpointId } = endpoint;
  const traced = attemptOf(payload, reference, endpointId, attempt);
  const outcome = await post({ url: endpoint.url, headers, body: payload.body, ...traced });
  const { tenantId, documentId, sequence } = reference;
  const delivery = { deliveryId, tenantId, endpointId, documentId, sequence, webhookId, signingNumber };
  const bodyBytes = payload.body.byteLength;
  const fate = { outcome, isAccepted: isAccepted(outcome), replayId, attempt, isLast: isLast(outcome) };
  await record({ ...delivery, bodyBytes, ...(payload.facts ? { snapshot: payload.facts } : {}), ...fate });
  return outcome;
}
