import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  DeliveryAttemptSchema,
  DeliverySchema,
  ReplaySchema,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { type LoggedAttempt, type LoggedDelivery, type Replay, shownState } from "../domain/delivery-log.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import type { SnapshotFacts } from "../domain/payload.ts";

/**
 * Of the attempts the message has only the last one.
 *
 * @param endpoint undefined when it was deleted
 */
export function deliveryToProto(
  delivery: LoggedDelivery,
  endpoint: Pick<Endpoint, "enabled"> | undefined,
): MessageInitShape<typeof DeliverySchema> {
  const { deliveryId, tenantId, endpointId, documentId, sequence, webhookId, attemptCount } = delivery;
  const { endedAt, nextAttemptAt, notice, snapshot } = delivery;
  const state = shownState(delivery.state, endpoint);
  const last = delivery.attempts.at(-1);
  return {
    deliveryId,
    tenantId,
    endpointId,
    ...(notice
      ? { event: notice.event, aboutEndpointId: documentId }
      : { documentId, sequence: BigInt(sequence), ...(snapshot ? factsToProto(snapshot) : {}) }),
    webhookId,
    state,
    attemptCount,
    createdAt: timestampFromDate(delivery.createdAt),
    ...(endedAt ? { endedAt: timestampFromDate(endedAt) } : {}),
    ...(nextAttemptAt && state !== "held" ? { nextAttemptAt: timestampFromDate(nextAttemptAt) } : {}),
    ...(last ? { lastAttempt: attemptToProto(last) } : {}),
  };
}

function factsToProto({ event, documentType, version }: SnapshotFacts) {
  return { event, documentType, version: BigInt(version) };
}

export function attemptToProto(attempt: LoggedAttempt): MessageInitShape<typeof DeliveryAttemptSchema> {
  const { startedAt, tookMs, status = 0, failure = "", detail = "", answer = "", replayId = "" } = attempt;
  const at = timestampFromDate(startedAt);
  return { at, took: durationFromMs(tookMs), status, failure, detail, answer, replayId };
}

export function replayToProto(replay: Replay): MessageInitShape<typeof ReplaySchema> {
  const { replayId, tenantId, endpointId, since, until, states, latestOnly } = replay;
  const { state, counts, createdAt, endedAt, reached } = replay;
  return {
    replayId,
    tenantId,
    endpointId,
    ...(since ? { since: timestampFromDate(since) } : {}),
    until: timestampFromDate(until),
    states: [...states],
    latestOnly,
    state,
    seen: BigInt(counts.seen),
    delivered: BigInt(counts.delivered),
    failed: BigInt(counts.failed),
    skipped: BigInt(counts.skipped),
    createdAt: timestampFromDate(createdAt),
    ...(endedAt ? { endedAt: timestampFromDate(endedAt) } : {}),
    ...(reached ? { reached: timestampFromDate(reached) } : {}),
  };
}
