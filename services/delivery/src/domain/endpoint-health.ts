import type { LoggedAttempt } from "./delivery-log.ts";
import type { GateState } from "./endpoint-gate.ts";

/**
 * The lanes of an enabled endpoint, by their bearers: the rows with the lanes' due times and
 * leases, mostly the oldest rows of their lanes.
 */
export interface Backlog {
  /** When the oldest bearer was stored. */
  readonly oldestAt: Date;
  /** Number of lanes. Those of notices count, too: one for each endpoint that they are about. */
  readonly documents: number;
  /** The last attempt at a bearer; absent when none was attempted. */
  readonly lastFailure?: LoggedAttempt;
}

/** The pending deliveries of a disabled endpoint. */
export interface HeldBacklog {
  /** Up to a limit; with `hasMore`, there are more. */
  readonly count: number;
  readonly hasMore: boolean;
  /** When the oldest was stored; absent when there is none. */
  readonly oldestAt?: Date;
}

export interface EndpointHealth extends Omit<GateHealth, "gate"> {
  /**
   * `disabled`: deliveries wait until somebody enables the endpoint. `unopened`: deliveries wait,
   * because the endpoint's secret or headers cannot be decrypted.
   */
  readonly gate: GateHealth["gate"] | "disabled" | "unopened";
  readonly backlog?: Backlog;
  /** Set for an endpoint that is `disabled` or `unopened`. */
  readonly held?: HeldBacklog;
  readonly lastAcceptedAt?: Date;
}

interface GateHealth {
  /**
   * Which attempts the endpoint gets. `closed`: as its limits allow. `open`: none until the next
   * probe, because attempts failed or were refused repeatedly. `probing`: a probe is due or in
   * flight. `paused`: none, because of a `Retry-After`.
   */
  readonly gate: "closed" | "open" | "probing" | "paused";
  readonly openSince?: Date;
  /** When the next probe is due, or the pause ends. */
  readonly nextProbeAt?: Date;
}

/** @param state the last stored one; absent for an endpoint without trouble */
export function gateHealthOf(state: GateState | undefined, now: Date): GateHealth {
  const { open, pausedUntil = 0 } = state ?? {};
  const nextMs = Math.max(open?.nextProbeAt ?? 0, pausedUntil);
  const next = { nextProbeAt: new Date(nextMs) };
  if (!open) return pausedUntil > now.getTime() ? { gate: "paused", ...next } : { gate: "closed" };
  return { gate: nextMs > now.getTime() ? "open" : "probing", openSince: new Date(open.since), ...next };
}
