import type { AttemptOutcome, HeldDelivery, OwedDelivery } from "../domain/delivery.ts";
import type { AttemptRow, DeliveryRow } from "./rows.ts";

/** What the scheduler reads of a row. */
export const heldProjection = { attempts: 0 } as const;

export function toDeliveryRow(owed: OwedDelivery, holder: string): DeliveryRow {
  const { deliveryId, tenantId, endpointId, documentId, sequence, webhookId, createdAt, leaseUntil } = owed;
  return {
    _id: deliveryId,
    tenantId,
    endpointId,
    documentId,
    sequence,
    webhookId,
    state: "pending",
    generation: leaseUntil ? 1 : 0,
    nextAttemptAt: leaseUntil ?? owed.nextAttemptAt,
    ...(leaseUntil ? { lease: { holder, until: leaseUntil } } : {}),
    attemptCount: 0,
    attempts: [],
    createdAt,
  };
}

/** A row as the one who claims it holds it. */
export function toHeld(row: Omit<DeliveryRow, "attempts">, leaseUntil: Date): HeldDelivery {
  const { _id, tenantId, endpointId, documentId, sequence, webhookId, createdAt } = row;
  return {
    deliveryId: _id,
    tenantId,
    endpointId,
    documentId,
    sequence,
    webhookId,
    attemptCount: row.attemptCount,
    hurriedCount: row.hurriedCount ?? 0,
    createdAt,
    generation: row.generation + 1,
    leaseUntil,
  };
}

export function toAttemptRow({ startedAt, tookMs, status, failure, answer }: AttemptOutcome): AttemptRow {
  return {
    at: startedAt,
    tookMs,
    ...(status === undefined ? {} : { status }),
    ...(failure === undefined ? {} : { failure }),
    ...(answer === undefined ? {} : { answer }),
  };
}
