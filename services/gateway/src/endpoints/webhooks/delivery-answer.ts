import { durationMs, type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryRequest,
  Replay,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";

/** A delivery as it is answered. */
export function deliveryOf(delivery: Delivery | undefined) {
  if (!delivery) throw new Error("delivery answered without the delivery");
  const { deliveryId: id, endpointId, webhookId, state, attemptCount, lastAttempt } = delivery;
  return {
    id,
    endpointId,
    event: delivery.event,
    aboutEndpointId: delivery.aboutEndpointId || null,
    documentId: delivery.documentId || null,
    documentType: delivery.documentType || null,
    version: Number(delivery.version) || null,
    sequence: Number(delivery.sequence) || null,
    webhookId,
    state,
    attemptCount,
    createdAt: timeOf(delivery.createdAt),
    endedAt: timeOf(delivery.endedAt),
    nextAttemptAt: timeOf(delivery.nextAttemptAt),
    lastAttempt: lastAttempt ? attemptOf(lastAttempt) : null,
  };
}

/** An attempt as it is answered. */
export function attemptOf(attempt: DeliveryAttempt) {
  const { status, failure, detail, answer, replayId, took } = attempt;
  return {
    at: timeOf(attempt.at),
    tookMs: took ? Math.round(durationMs(took)) : 0,
    status: status || null,
    failure: failure || null,
    detail: detail || null,
    answer,
    replayId: replayId || null,
  };
}

/** The request of a delivery, computed again, as it is answered. */
export function requestOf({ recomputed, url, headers, body }: DeliveryRequest) {
  const named = headers.map(({ name, value }) => [name, value] as const);
  return { recomputed, url, headers: Object.fromEntries(named), body: Buffer.from(body).toString() };
}

/** A replay as it is answered. */
export function replayOf(replay: Replay | undefined) {
  if (!replay) throw new Error("delivery answered without the replay");
  const { replayId: id, endpointId, states, latestOnly, state, seen, delivered, failed, skipped } = replay;
  return {
    id,
    endpointId,
    since: timeOf(replay.since),
    until: timeOf(replay.until),
    states,
    latestOnly,
    state,
    seen: Number(seen),
    delivered: Number(delivered),
    failed: Number(failed),
    skipped: Number(skipped),
    reached: timeOf(replay.reached),
    createdAt: timeOf(replay.createdAt),
    endedAt: timeOf(replay.endedAt),
  };
}

function timeOf(time: Timestamp | undefined): string | null {
  return time ? timestampDate(time).toISOString() : null;
}
