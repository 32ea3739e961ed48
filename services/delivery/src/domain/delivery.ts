import { hash } from "node:crypto";
import type { Endpoint } from "./endpoint.ts";
import type { NoticeFacts } from "./notice.ts";
import type { Reference, SnapshotFacts } from "./payload.ts";

/**
 * The deliveries of one document to one endpoint. They are attempted one at a time: the oldest
 * first, unless the endpoint has refused it and a newer one waits.
 */
export interface Lane {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly documentId: string;
}

/**
 * A webhook to an endpoint. Of a notice, `documentId` is the id of the endpoint that it is about,
 * and `sequence` is its time in milliseconds since 1970.
 */
export interface Delivery extends Lane, Reference {
  readonly deliveryId: string;
  readonly webhookId: string;
  /** 1, or higher for a snapshot that was signed again after a revocation. */
  readonly signingNumber: number;
  readonly createdAt: Date;
  /** Size of the body: exact for a notice, at most 1 KiB too high for a snapshot. */
  readonly bodyBytes: number;
  /**
   * Facts of a snapshot for the log; absent for a notice, and in rows that were read for sending.
   */
  readonly snapshot?: SnapshotFacts;
  /** Facts of a notice, from which its body is made; absent for a snapshot. */
  readonly notice?: NoticeFacts;
}

export interface AttemptOutcome {
  startedAt: Date;
  /** Milliseconds until the answer was read or the attempt failed. */
  tookMs: number;
  /** HTTP status, when there was an answer. */
  status?: number;
  failure?: AttemptFailure;
  /** The failure in words that the tenant may read. */
  detail?: string;
  /** The first 1 KiB of the answer's body, with values of hidden headers replaced. */
  answer?: string;
  /** The answer's `Retry-After`, from the end of the answer; may exceed `retryAfterMsMax`. */
  retryAfterMs?: number;
}

/** Why an attempt got no answer. */
export type AttemptFailure = "address_refused" | "dns" | "tls" | "timeout" | "connection";

/**
 * What an attempt says about its webhook. `accepted`: the receiver has it. `refused`: the receiver
 * says that it does not have it. `failed`: the receiver may have it or not.
 */
export type Verdict = "accepted" | "refused" | "failed";

/**
 * Statuses that are caused by the receiver's state and not by the webhook: an outage, a proxy, a
 * limit.
 */
const transientStatuses = new Set([408, 429, 502, 503, 504]);

export function verdictOf({ status }: Pick<AttemptOutcome, "status">): Verdict {
  if (status === undefined || transientStatuses.has(status)) return "failed";
  return status >= 200 && status <= 299 ? "accepted" : "refused";
}

export function isAccepted(outcome: Pick<AttemptOutcome, "status">): boolean {
  return verdictOf(outcome) === "accepted";
}

/** Key of a lane in maps and sets. It needs no tenant: endpoint ids are unique across tenants. */
export function laneKey({ endpointId, documentId }: Lane): string {
  return `${endpointId} ${documentId}`;
}

/**
 * The id of a delivery: a hash of endpoint and webhook id, in the form of a UUID (version 8), so
 * that two processes that store the same delivery store one row.
 */
export function deliveryIdOf({ endpointId }: Pick<Endpoint, "endpointId">, webhookId: string): string {
  const digest = hash("sha256", `${endpointId}\n${webhookId}`, "buffer").subarray(0, 16);
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
