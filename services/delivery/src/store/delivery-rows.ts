import type { AttemptOutcome, Delivery } from "../domain/delivery.ts";
import { compareRows, type LaneRow, type LaneState } from "../domain/advance-lane.ts";
import type { AttemptRow, DeliveryRow } from "./rows.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** How long final rows are kept. */
export const keptMs = 30 * dayMs;

/** A row keeps its newest attempts, at most this many. */
export const attemptsMax = 50;

export interface NewDelivery extends Delivery {
  /**
   * How the row is to be stored. `leased`: as its lane's bearer, leased to this process. `due`:
   * as its lane's bearer, without a lease, so that any process can claim it. `behind`: behind the
   * bearer that its lane has.
   */
  readonly standing: "leased" | "due" | "behind";
}

/** An undelivered row of a lane, with what an attempt needs. */
export interface SendableRow extends LaneRow, Delivery {
  readonly attemptCount: number;
  readonly generation: number;
}

/** A lane that this process has leased. */
export interface LeasedLane {
  readonly bearer: { readonly deliveryId: string; readonly generation: number };
  readonly leaseUntil: Date;
  readonly state: LaneState<SendableRow>;
}

/** Sending reads all columns but the attempts, which may be long. */
export const sendableProjection = { attempts: 0 } as const;

export type RowHead = Omit<DeliveryRow, "attempts">;

export function toRow(delivery: NewDelivery, holder: string, leaseUntil: Date): DeliveryRow {
  const { deliveryId, tenantId, endpointId, documentId, sequence, signingNumber, webhookId, createdAt } = delivery;
  const { standing, bodyBytes } = delivery;
  return {
    _id: deliveryId,
    tenantId,
    endpointId,
    documentId,
    sequence,
    signingNumber,
    webhookId,
    bodyBytes,
    state: "pending",
    generation: standing === "leased" ? 1 : 0,
    ...(standing === "leased" ? { nextAttemptAt: leaseUntil, lease: { holder, until: leaseUntil } } : {}),
    ...(standing === "due" ? { nextAttemptAt: createdAt } : {}),
    attemptCount: 0,
    retryCount: 0,
    attempts: [],
    createdAt,
    ...(delivery.snapshot ? { snapshot: delivery.snapshot } : {}),
    ...(delivery.notice ? { notice: delivery.notice } : {}),
  };
}

export function toNewSendable({ standing, ...delivery }: NewDelivery): SendableRow {
  const generation = standing === "leased" ? 1 : 0;
  return { ...delivery, generation, attemptCount: 0, retryCount: 0, isRefused: false };
}

export function toSendable(row: RowHead): SendableRow {
  const { _id, tenantId, endpointId, documentId, sequence, signingNumber, webhookId, createdAt } = row;
  return {
    deliveryId: _id,
    tenantId,
    endpointId,
    documentId,
    sequence,
    signingNumber,
    webhookId,
    createdAt,
    bodyBytes: row.bodyBytes,
    attemptCount: row.attemptCount,
    generation: row.generation,
    retryCount: row.retryCount,
    isRefused: row.isRefused ?? false,
    ...(row.notice ? { notice: row.notice } : {}),
  };
}

export function wholeLane(rows: readonly SendableRow[]): LoadedRows {
  const sorted = rows.toSorted(compareRows);
  return { rows: sorted, contiguous: rows.length, hasMore: false, isTailNext: true, isTailEnd: true };
}

type LoadedRows = Omit<LaneState<SendableRow>, "yieldedTo" | "isUncertain" | "dueAt" | "isExpedited">;

/** A lane that this process has just stored or claimed. */
export function toLeasedLane(
  bearer: Pick<RowHead, "_id" | "generation" | "yieldedTo" | "isExpedited">,
  loaded: LoadedRows,
  { leaseUntil, dueAt }: { leaseUntil: Date; dueAt: Date },
): LeasedLane {
  const { yieldedTo } = bearer;
  return {
    bearer: { deliveryId: bearer._id, generation: bearer.generation },
    leaseUntil,
    state: {
      ...loaded,
      dueAt,
      isExpedited: bearer.isExpedited ?? false,
      isUncertain: yieldedTo !== undefined,
      ...(yieldedTo === undefined ? {} : { yieldedTo }),
    },
  };
}

export function toAttemptRow({ startedAt, tookMs, status, failure, detail, answer }: AttemptOutcome): AttemptRow {
  return {
    at: startedAt,
    tookMs,
    ...(status === undefined ? {} : { status }),
    ...(failure === undefined ? {} : { failure }),
    ...(detail === undefined ? {} : { detail }),
    ...(answer === undefined ? {} : { answer }),
  };
}
