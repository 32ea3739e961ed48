import type { Reference } from "./payload.ts";

/** A receiver. */
export interface Endpoint {
  endpointId: string;
  tenantId: string;
  url: string;
  /** Decoded, 32 bytes. */
  secret: Uint8Array;
  createdAt: Date;
}

/** The deliveries of one document to one endpoint: they go out one at a time, in order. */
export interface Lane {
  tenantId: string;
  endpointId: string;
  documentId: string;
}

/** A delivery this process holds the lease of. */
export interface HeldDelivery extends Lane, Reference {
  deliveryId: string;
  webhookId: string;
  /** Attempts recorded so far. */
  attemptCount: number;
  /** How many of them came before their time, because something newer had arrived. */
  hurriedCount: number;
  createdAt: Date;
  /** Changes with every claim and every result: who does not know it can change nothing. */
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

/** The oldest undelivered snapshot of a lane. */
export interface LaneHead {
  sequence: number;
  nextAttemptAt: Date;
  /** Until when the receiver asked to be left alone, if it did. */
  notBefore?: Date;
}

/** What an attempt came to. */
export interface AttemptOutcome {
  startedAt: Date;
  /** Milliseconds until the answer was read or given up. */
  tookMs: number;
  /** HTTP status, when there was an answer. */
  status?: number;
  /** Why there was none. */
  failure?: AttemptFailure;
  /** Beginning of the answer's body, at most 1 KiB. */
  answer?: string;
  /** What the receiver asked for. */
  retryAfterMs?: number;
}

/** Kinds of attempts without an answer. */
export type AttemptFailure = "address_refused" | "dns" | "tls" | "timeout" | "connection";

/** An attempt and what follows from it. */
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
