import { type AttemptOutcome, type AttemptRecord, type HeldDelivery, isAccepted } from "../domain/delivery.ts";
import { nextAttemptAt, notBefore, type RetryPlan } from "../domain/retry-plan.ts";
import { webhookHeaders } from "../domain/webhook-headers.ts";
import type { PostWebhook } from "../net/post-webhook.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { EndpointDirectory } from "./endpoint-directory.ts";
import type { PayloadShelf } from "./payload-shelf.ts";

export interface DeliverDeps {
  directory: Pick<EndpointDirectory, "find">;
  shelf: Pick<PayloadShelf, "get">;
  deliveries: Pick<DeliveryStore, "release" | "renew" | "deletePending">;
  post: PostWebhook;
  retries: RetryPlan;
  attemptMs: number;
  leaseMs: number;
}

/** How soon a delivery whose payload is not stored yet is looked at again: its ingest was cut short and is repeated. */
const payloadMissingMs = 1_000;

/** Attempts a delivery once. Undefined when there was nothing to attempt, or when it is no longer this process's to attempt. */
export async function deliver(deps: DeliverDeps, held: HeldDelivery): Promise<AttemptRecord | undefined> {
  const { tenantId, endpointId, webhookId, deliveryId } = held;
  const [endpoint, payload] = await Promise.all([deps.directory.find(endpointId), deps.shelf.get(webhookId)]);
  if (!endpoint) {
    await deps.deliveries.deletePending(tenantId, endpointId);
    return undefined;
  }
  if (!payload) {
    await deps.deliveries.release([held], new Date(Date.now() + payloadMissingMs));
    return undefined;
  }
  if (!(await outlivesAttempt(deps, held))) return undefined;
  const attempt = held.attemptCount + 1;
  const headers = webhookHeaders({ payload, endpoint, deliveryId, attempt, at: new Date() });
  const outcome = await deps.post({ url: endpoint.url, headers, body: payload.body });
  return { delivery: held, outcome, verdict: judge(deps.retries, held, outcome) };
}

/** A delivery that queued long is held anew, so that no lease ever ends while its attempt is under way. */
async function outlivesAttempt({ deliveries, attemptMs, leaseMs }: DeliverDeps, held: HeldDelivery): Promise<boolean> {
  const now = Date.now();
  // Left over when the longest attempt ends, for clocks that differ between processes.
  const graceMs = (leaseMs - attemptMs) / 2;
  if (held.leaseUntil.getTime() - now >= attemptMs + graceMs) return true;
  const [renewed = false] = await deliveries.renew([held], new Date(now + leaseMs));
  return renewed;
}

function judge(retries: RetryPlan, held: HeldDelivery, outcome: AttemptOutcome): AttemptRecord["verdict"] {
  if (isAccepted(outcome)) return { state: "delivered" };
  const endedAt = new Date(outcome.startedAt.getTime() + outcome.tookMs);
  const failed = {
    // An attempt that was hurried and then lost with its process is counted among the hurried ones only.
    attempt: Math.max(1, held.attemptCount + 1 - held.hurriedCount),
    createdAt: held.createdAt,
    endedAt,
    retryAfterMs: outcome.retryAfterMs,
  };
  const next = nextAttemptAt(retries, failed, Math.random());
  if (!next) return { state: "exhausted" };
  const asked = notBefore(failed);
  return { state: "pending", nextAttemptAt: next, ...(asked ? { notBefore: asked } : {}) };
}
