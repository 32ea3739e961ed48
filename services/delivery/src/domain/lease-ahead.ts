import { movingMean } from "./moving-mean.ts";

/** How fast an endpoint takes webhooks. By it a process decides how many lanes it leases ahead. */
export interface EndpointPace {
  /** Most attempts in flight. */
  readonly slots: number;
  /** Most attempts a second; absent for no limit. */
  readonly ratePerSecond?: number | undefined;
  /** Mean duration of the endpoint's last attempts; absent until one has ended. */
  readonly answerMs?: number | undefined;
  /** Mean size of the last bodies, whatever their endpoint. */
  readonly bodyBytes: number;
  /** A leased lane should start within this time: `aheadMsOf`. */
  readonly aheadMs: number;
}

/**
 * At least this many lanes may be leased for each slot, however slow the endpoint is, so that the
 * next attempt can start when one ends.
 */
const lanesPerSlot = 2;
const lanesMax = 1_000;
/**
 * Beyond `lanesPerSlot`, lanes are leased only while all their bodies fit in this: a fifth of the
 * payload cache's 40 MiB, so that waiting bodies mostly stay in the cache.
 */
const bytesMax = 8 * 1024 * 1024;
/** An endpoint is quick when it takes this many lanes, one batch of ingest, within `aheadMs`. */
const quickLanes = 256;

/** A lease outlasts the longest attempt, so that no other process takes the lane over meanwhile. */
export function leaseMsOf({ attemptMs, leaseMarginMs }: { attemptMs: number; leaseMarginMs: number }): number {
  return attemptMs + leaseMarginMs;
}

/**
 * The time within which a leased lane should start: a fifth of the margin that a lease has over the
 * longest attempt, so one second in production. When less than half of the margin is left, the
 * lease must be renewed before the attempt, which costs a command.
 */
export function aheadMsOf({ leaseMs, attemptMs }: { leaseMs: number; attemptMs: number }): number {
  return (leaseMs - attemptMs) / 5;
}

/** Most lanes of an endpoint that one process leases at once. */
export function lanesAhead(pace: EndpointPace): number {
  return Math.max(lanesPerSlot * pace.slots, takenAhead(pace) ?? 0);
}

/** Lanes taken within `aheadMs`, up to the limits; undefined until an attempt has ended. */
function takenAhead({ slots, ratePerSecond, answerMs, bodyBytes, aheadMs }: EndpointPace): number | undefined {
  if (answerMs === undefined) return undefined;
  const perSecond = Math.min((slots * 1_000) / Math.max(1, answerMs), ratePerSecond ?? Number.POSITIVE_INFINITY);
  const most = Math.min(lanesMax, Math.floor(bytesMax / Math.max(1, bodyBytes)));
  return Math.min(most, Math.floor((perSecond * aheadMs) / 1_000));
}

/** An endpoint with attempts in flight and no answer for this time is not quick. */
const stallMs = 200;

/**
 * Whether ingest should wait for capacity at an endpoint: a lane that is stored without a lease
 * costs a claim, and a quick endpoint will soon have capacity for a batch.
 *
 * @param silentMs for how long attempts have been in flight without any answer; 0 while none is
 */
export function isQuick(pace: EndpointPace, silentMs: number): boolean {
  return silentMs < stallMs && (takenAhead(pace) ?? quickLanes) >= quickLanes;
}

export function meanAnswerMs(before: number | undefined, tookMs: number): number {
  return movingMean(before, tookMs, 8);
}
