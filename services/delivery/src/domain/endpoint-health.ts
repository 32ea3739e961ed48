import type { LoggedAttempt } from "./delivery-log.ts";
import type { GateState } from "./endpoint-gate.ts";

/** The pending deliveries of an endpoint. */
export interface Backlog {
  /** When the oldest pending delivery was stored. */
  readonly oldestAt: Date;
  /** Number of documents with a pending delivery, and of endpoints with a pending notice. */
  readonly documents: number;
  /**
   * The last failed attempt at the bearers of the lanes, which are mostly the oldest deliveries. An
   * attempt at a newer row, to which a refused one yielded, is not among them.
   */
  readonly lastFailure?: LoggedAttempt;
}

/** The pending deliveries of a disabled endpoint. */
export interface HeldBacklog {
  /** Number of counted deliveries. Counting ends at a limit; `hasMore` says that it did. */
  readonly count: number;
  readonly hasMore: boolean;
  /** When the oldest was stored. */
  readonly oldestAt?: Date;
}

export interface EndpointHealth extends Omit<GateHealth, "gate"> {
  /**
   * `disabled`: deliveries wait until somebody enables the endpoint. `unopened`: deliveries wait,
   * because the endpoint's secret or headers cannot be opened.
   */
  readonly gate: GateHealth["gate"] | "disabled" | "unopened";
  readonly backlog?: Backlog;
  /** Set for an endpoint that is `disabled` or `unopened`. */
  readonly held?: HeldBacklog;
  readonly lastAcceptedAt?: Date;
}

/** Which attempts an endpoint gets now. */
interface GateHealth {
  /**
   * `closed`: attempts. `open`: none until the next probe, because attempts failed repeatedly.
   * `probing`: a probe is due or in flight. `paused`: none, because of its `Retry-After`.
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
