/** How far ahead of an endpoint lanes are leased. Pure. */

/** How many attempts an endpoint takes at once, and how fast. */
export interface EndpointPace {
  /** Most attempts in flight. */
  readonly places: number;
  /** Most attempts a second; absent: no limit. */
  readonly ratePerSecond?: number | undefined;
  /** Mean time of its last answers, in milliseconds; absent while there is none. */
  readonly answerMs?: number | undefined;
  /** Mean size of a body, in bytes. */
  readonly bodyBytes: number;
  /** Within this time a leased lane is to start: `aheadMsOf`. */
  readonly aheadMs: number;
}

/** Lanes that are leased for each place, whatever the pace, so that no place stays empty. */
const lanesPerPlace = 2;
const lanesMax = 1_000;
/** Of the 40 MiB of the payload cache, so that what waits is not dropped from it. */
const bytesMax = 8 * 1024 * 1024;
/** What an endpoint takes within `aheadMs` if it is quick: one batch of ingest. */
const quickLanes = 256;

/**
 * How soon a leased lane is to start: a second of the promised pace. The lease is renewed when it has
 * not half of its margin left beside the longest attempt, and a renewal costs a command.
 */
export function aheadMsOf({ leaseMs, attemptMs }: { leaseMs: number; attemptMs: number }): number {
  return (leaseMs - attemptMs) / 5;
}

/** How many lanes of an endpoint may be leased: what it takes in that time, two a place at least. */
export function lanesAhead({ places, ratePerSecond, answerMs, bodyBytes, aheadMs }: EndpointPace): number {
  const least = lanesPerPlace * places;
  if (answerMs === undefined) return least;
  const perSecond = Math.min((places * 1_000) / Math.max(1, answerMs), ratePerSecond ?? Number.POSITIVE_INFINITY);
  const most = Math.min(lanesMax, Math.floor(bytesMax / Math.max(1, bodyBytes)));
  return Math.max(least, Math.min(most, Math.floor((perSecond * aheadMs) / 1_000)));
}

/** For how long attempts may be in flight without any answer until the endpoint is not quick. */
const stallMs = 200;

/**
 * Whether ingest waits for room at an endpoint: rows that are stored without a lease cost a claim
 * each, and this endpoint has room for a batch within that time. One that has not answered yet may be
 * quick; one that hangs is not, however quick it was.
 *
 * @param silentMs for how long attempts have been in flight without any answer
 */
export function isQuick(pace: EndpointPace, silentMs: number): boolean {
  return silentMs < stallMs && (pace.answerMs === undefined || lanesAhead(pace) >= quickLanes);
}

/** The mean after another answer; the last eight or so count. */
export function meanAnswerMs(before: number | undefined, tookMs: number): number {
  return before === undefined ? tookMs : before + (tookMs - before) / 8;
}
