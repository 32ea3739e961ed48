import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  DeliveryAttemptSchema,
  DeliverySchema,
  ReplaySchema,
} from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { LoggedAttempt, LoggedDelivery, Replay } from "../domain/delivery-log.ts";

/** A delivery as its message, with its last attempt. */
export function deliveryToProto(delivery: LoggedDelivery): MessageInitShape<typeof DeliverySchema> {
  const { deliveryId, tenantId, endpointId, documentId, sequence, webhookId, state, attemptCount } = delivery;
  const { endedAt, nextAttemptAt, notice } = delivery;
  const last = delivery.attempts.at(-1);
  return {
    deliveryId,
    tenantId,
    endpointId,
    ...(notice ? { event: notice.event, aboutEndpointId: documentId } : { documentId, sequence: BigInt(sequence) }),
    webhookId,
    state,
    attemptCount,
    createdAt: timestampFromDate(delivery.createdAt),
    ...(endedAt ? { endedAt: timestampFromDate(endedAt) } : {}),
    ...(nextAttemptAt ? { nextAttemptAt: timestampFromDate(nextAttemptAt) } : {}),
    ...(last ? { lastAttempt: attemptToProto(last) } : {}),
  };
}

/** An attempt as its message. */
export function attemptToProto(attempt: LoggedAttempt): MessageInitShape<typeof DeliveryAttemptSchema> {
  const { startedAt, tookMs, status = 0, failure = "", detail = "", answer = "", replayId = "" } = attempt;
  const at = timestampFromDate(startedAt);
  return { at, took: durationFromMs(tookMs), status, failure, detail, answer, replayId };
}

/** A replay as its message. */
export function replayToProto(replay: Replay): MessageInitShape<typeof ReplaySchema> {
  const { replayId, tenantId, endpointId, state, counts, createdAt, endedAt, reached } = replay;
  return {
    replayId,
    tenantId,
    endpointId,
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
