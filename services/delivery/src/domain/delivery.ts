import type { Reference } from "./payload.ts";

/** The deliveries of one document to one endpoint. They are attempted one at a time, in order. */
export interface Lane {
  tenantId: string;
  endpointId: string;
  documentId: string;
}

/** A delivery whose lease this process holds. */
export interface HeldDelivery extends Lane, Reference {
  deliveryId: string;
  webhookId: string;
  /** Attempts recorded so far. */
  attemptCount: number;
  /** How many of them were made before their backoff ended, because a newer snapshot arrived. */
  hurriedCount: number;
  createdAt: Date;
  /**
   * Grows with every claim and every result. Writes match it, so a process that lost its lease
   * writes nothing.
   */
  generation: number;
  leaseUntil: Date;
}

/** A delivery about to be stored. */
export interface OwedDelivery extends Lane, Reference {
  deliveryId: string;
  webhookId: string;
  createdAt: Date;
  nextAttemptAt: Date;
  /** Set when the process that stores it attempts it at once. */
  leaseUntil?: Date;
}

/** The oldest pending delivery of a lane. */
export interface LaneHead {
  sequence: number;
  nextAttemptAt: Date;
  /** The time that the receiver's `Retry-After` named, if its last answer had one. */
  notBefore?: Date;
}

/** The result of an attempt. */
export interface AttemptOutcome {
  startedAt: Date;
  /** Milliseconds until the answer was read or the attempt ended. */
  tookMs: number;
  /** HTTP status, when there was an answer. */
  status?: number;
  /** The cause, when there was no answer. */
  failure?: AttemptFailure;
  /** The failure in words that the tenant may read. */
  detail?: string;
  /** Beginning of the answer's body, at most 1 KiB. */
  answer?: string;
  /** The answer's `Retry-After`, if it had one. */
  retryAfterMs?: number;
}

/** Kinds of attempts without an answer. */
export type AttemptFailure = "address_refused" | "dns" | "tls" | "timeout" | "connection";

/** An attempt and the delivery's state after it. */
export interface AttemptRecord {
  delivery: HeldDelivery;
  outcome: AttemptOutcome;
  verdict: { state: "delivered" | "exhausted" } | { state: "pending"; nextAttemptAt: Date; notBefore?: Date };
}

/** Whether an answer means that the receiver has the snapshot. */
export function isAccepted({ status }: AttemptOutcome): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}

/** Names a lane within one process. Endpoint ids are unique across tenants. */
export function laneKey({ endpointId, documentId }: Lane): string {
  return `${endpointId} ${documentId}`;
}
