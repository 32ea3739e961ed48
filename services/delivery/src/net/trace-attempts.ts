import { isSampled, type SpanAttributes, type Tracing } from "@vidimus/kit/telemetry/tracing/tracing";
import { type AttemptOutcome, isAccepted } from "../domain/delivery.ts";
import type { Postable, Reference } from "../domain/payload.ts";
import type { OutgoingWebhook, PostWebhook, TracedAttempt } from "./post-webhook.ts";

const untraced = {};

/** The facts for an attempt's span; empty when the snapshot's trace is not recorded. */
export function attemptOf(
  { traceparent, webhookId }: Postable,
  { tenantId, documentId, sequence }: Reference,
  endpointId: string,
  number: number,
): Pick<OutgoingWebhook, "attempt"> {
  if (!isSampled(traceparent)) return untraced;
  return { attempt: { traceparent, webhookId, tenantId, documentId, sequence, endpointId, number } };
}

/**
 * Records attempts of snapshots whose traces are recorded. A span has the host of the receiver but
 * no path, because integrators put tokens into paths and queries. The receiver does not get the
 * trace context.
 */
export function traceAttempts(tracing: Tracing, post: PostWebhook): PostWebhook {
  return async (webhook) => {
    const { attempt } = webhook;
    if (!attempt) return post(webhook);
    const attributes = attributesOf(webhook.url, attempt);
    const span = tracing.start({ name: "POST webhook", kind: "client", parent: attempt.traceparent, attributes });
    const outcome = await post(webhook);
    span.end({ "http.response.status_code": outcome.status }, errorTypeOf(outcome));
    return outcome;
  };
}

function attributesOf(url: string, { tenantId, documentId, sequence, ...attempt }: TracedAttempt): SpanAttributes {
  const { hostname, port, protocol } = URL.parse(url) ?? {};
  return {
    "http.request.method": "POST",
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
    "vidimus.tenant.id": tenantId,
    "vidimus.document.id": documentId,
    "vidimus.snapshot.sequence": sequence,
    "vidimus.endpoint.id": attempt.endpointId,
    "vidimus.webhook.id": attempt.webhookId,
    "vidimus.attempt": attempt.number,
  };
}

function errorTypeOf(outcome: AttemptOutcome): string | undefined {
  return isAccepted(outcome) ? undefined : (outcome.failure ?? String(outcome.status));
}
