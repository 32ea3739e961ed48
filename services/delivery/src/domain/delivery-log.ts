import { DomainError } from "@vidimus/kit/errors";
import type { AttemptOutcome } from "./delivery.ts";
import type { Endpoint } from "./endpoint.ts";
import type { NoticeFacts } from "./notice.ts";
import type { SnapshotFacts } from "./payload.ts";

export const hourMs = 60 * 60_000;

/** States of a delivery, as they are shown. `held`: it is pending, and its endpoint is disabled. */
export const deliveryStates = ["pending", "held", "delivered", "superseded", "exhausted"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
export type StoredState = Exclude<DeliveryState, "held">;

/** @param endpoint undefined when it was deleted */
export function shownState(state: StoredState, endpoint: Pick<Endpoint, "enabled"> | undefined): DeliveryState {
  return state === "pending" && endpoint?.enabled === false ? "held" : state;
}

export interface LoggedAttempt extends Omit<AttemptOutcome, "failure" | "retryAfterMs"> {
  readonly failure?: string;
  readonly replayId?: string;
  /** Replays and redeliveries only: the value of the webhook's header `vidimus-attempt`. */
  readonly number?: number;
}

export interface LoggedDelivery {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly endpointId: string;
  readonly documentId: string;
  readonly sequence: number;
  readonly webhookId: string;
  readonly state: StoredState;
  readonly attemptCount: number;
  /** The last attempts, oldest first. */
  readonly attempts: readonly LoggedAttempt[];
  readonly createdAt: Date;
  readonly endedAt?: Date;
  readonly nextAttemptAt?: Date;
  readonly signingNumber: number;
  /** Facts of the snapshot; absent for a notice. */
  readonly snapshot?: SnapshotFacts;
  /** Facts of the notice; absent for a snapshot. */
  readonly notice?: NoticeFacts;
}

/** A delivery of a snapshot under one of its signatures. */
export interface SignedDelivery {
  readonly signingNumber: number;
  readonly state: StoredState;
  /** Id of the last replay or redelivery that has ended its attempts at the delivery. */
  readonly endedReplayId?: string;
  /** Id of the replay or redelivery that made the last attempt; absent when neither did. */
  readonly lastReplayId?: string;
  /** For example `snapshot.usable`. */
  readonly event?: string;
}

/**
 * The delivery that shows what happened to a snapshot at an endpoint: a pending one, else the one
 * with the newest signature. Undefined when there is none.
 */
export function tellingDelivery<D extends SignedDelivery>(deliveries: readonly D[]): D | undefined {
  const newestFirst = deliveries.toSorted((a, b) => b.signingNumber - a.signingNumber);
  return newestFirst.find(({ state }) => state === "pending") ?? newestFirst[0];
}

/** States of deliveries that a replay can ask for; `missing` for snapshots without a delivery. */
export const replayStates = ["delivered", "superseded", "exhausted", "missing"] as const;
export type ReplayState = (typeof replayStates)[number];

/** A request to send snapshots to an endpoint again, and its progress. */
export interface Replay {
  readonly replayId: string;
  readonly tenantId: string;
  readonly endpointId: string;
  readonly since?: Date;
  readonly until: Date;
  readonly states: readonly ReplayState[];
  readonly latestOnly: boolean;
  /** The endpoint's types when the replay was started; absent for all. */
  readonly documentTypes?: readonly string[];
  readonly state: "running" | "done" | "cancelled";
  /** Token of the current page of documents' snapshots; "" for the first page. */
  readonly pageToken: string;
  readonly counts: ReplayCounts;
  /** Latest turns in a row in which the receiver could not be reached. */
  readonly failedTurns: number;
  readonly reached?: Date;
  readonly createdAt: Date;
  readonly endedAt?: Date;
}

/** Numbers of snapshots. Those of a replay leave out its current page. */
export interface ReplayCounts {
  readonly seen: number;
  readonly delivered: number;
  readonly failed: number;
  readonly skipped: number;
}

/** @throws DomainError `invalid` when a name is not in `known` */
export function requireStates<S extends string>(names: readonly string[], known: readonly S[]): S[] {
  const unknown = names.find((name) => !known.some((state) => state === name));
  if (unknown === undefined) return known.filter((state) => names.includes(state));
  const message = `knows no "${unknown}"; there are ${known.join(", ")}`;
  throw new DomainError("invalid", `states ${message}`, { violations: [{ pointer: "/states", message }] });
}
