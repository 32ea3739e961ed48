import type { LoggedAttempt } from "./delivery-log.ts";
import type { GateState } from "./endpoint-gate.ts";

/** What the deliveries of an endpoint say about it. */
export interface Backlog {
  /** When the oldest pending delivery was stored. */
  readonly oldestAt: Date;
  /** Documents of which a delivery is pending. */
  readonly documents: number;
  /** At a pending delivery. */
  readonly lastFailure?: LoggedAttempt;
}

/** What waits for an endpoint that is disabled. */
export interface HeldBacklog {
  /** Deliveries, as far as they are counted. */
  readonly count: number;
  /** Whether there are more. */
  readonly hasMore: boolean;
  /** When the oldest was stored. */
  readonly oldestAt?: Date;
}

/** How an endpoint does. */
export interface EndpointHealth extends Omit<GateHealth, "gate"> {
  /** `disabled`: nothing goes out. `unopened`: nor does it, since what it keeps secret cannot be opened. */
  readonly gate: GateHealth["gate"] | "disabled" | "unopened";
  readonly backlog?: Backlog;
  /** Of one to which nothing goes out. */
  readonly held?: HeldBacklog;
  readonly lastAcceptedAt?: Date;
}

/** What an endpoint is given right now. */
export interface GateHealth {
  /**
   * `closed`: attempts. `open`: one probe at a time, since it failed again and again. `probing`: a
   * probe is due or on its way. `paused`: nothing, as its `Retry-After` asked.
   */
  readonly gate: "closed" | "open" | "probing" | "paused";
  /** Since when the breaker is open. */
  readonly openSince?: Date;
  /** When the next probe is due, or the pause ends. */
  readonly nextProbeAt?: Date;
}

/** @param state as it was stored last; absent for an endpoint that is in no trouble */
export function gateHealthOf(state: GateState | undefined, now: Date): GateHealth {
  const { open, pausedUntil = 0 } = state ?? {};
  const nextMs = Math.max(open?.nextProbeAt ?? 0, pausedUntil);
  const next = { nextProbeAt: new Date(nextMs) };
  if (!open) return pausedUntil > now.getTime() ? { gate: "paused", ...next } : { gate: "closed" };
  return { gate: nextMs > now.getTime() ? "open" : "probing", openSince: new Date(open.since), ...next };
}
