import { durationMs, type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryRequest,
  Replay,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";

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
    createdAt: isoOrNull(delivery.createdAt),
    endedAt: isoOrNull(delivery.endedAt),
    nextAttemptAt: isoOrNull(delivery.nextAttemptAt),
    lastAttempt: lastAttempt ? attemptOf(lastAttempt) : null,
  };
}

export function attemptOf(attempt: DeliveryAttempt) {
  const { status, failure, detail, answer, replayId, took } = attempt;
  return {
    at: isoOrNull(attempt.at),
    tookMs: took ? Math.round(durationMs(took)) : 0,
    status: status || null,
    failure: failure || null,
    detail: detail || null,
    answer,
    replayId: replayId || null,
  };
}

export function requestOf({ recomputed, url, headers, body }: DeliveryRequest) {
  const named = headers.map(({ name, value }) => [name, value] as const);
  return { recomputed, url, headers: Object.fromEntries(named), body: Buffer.from(body).toString() };
}

export function replayOf(replay: Replay | undefined) {
  if (!replay) throw new Error("delivery answered without the replay");
  const { replayId: id, endpointId, states, latestOnly, state, seen, delivered, failed, skipped } = replay;
  return {
    id,
    endpointId,
    since: isoOrNull(replay.since),
    until: isoOrNull(replay.until),
    states,
    latestOnly,
    state,
    seen: Number(seen),
    delivered: Number(delivered),
    failed: Number(failed),
    skipped: Number(skipped),
    reached: isoOrNull(replay.reached),
    createdAt: isoOrNull(replay.createdAt),
    endedAt: isoOrNull(replay.endedAt),
  };
}

function isoOrNull(time: Timestamp | undefined): string | null {
  return time ? timestampDate(time).toISOString() : null;
}
