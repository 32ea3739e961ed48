import { setTimeout as pause } from "node:timers/promises";
import { type AttemptOutcome, verdictOf } from "../domain/delivery.ts";
import type { Replay, ReplayState, SignedDelivery } from "../domain/delivery-log.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import type { Reference } from "../domain/payload.ts";
import { type RetryPlan, retryAfterMsMax } from "../domain/retry-plan.ts";
import { resend, type ResendDeps } from "./resend.ts";

/** A snapshot as documents lists it. */
export interface ListedSnapshot extends Reference {
  readonly committedAt: Date;
}

type Replayed = "delivered" | "failed" | "skipped";

/** The receiver gave no answer, or one about its own state, such as 429 or 503. */
export class Unreachable extends Error {
  /** The answer's `Retry-After`; 0 without one. */
  readonly retryAfterMs: number;

  constructor({ retryAfterMs = 0 }: AttemptOutcome) {
    super("the receiver cannot be reached");
    this.retryAfterMs = retryAfterMs;
  }
}

export interface ReplaySnapshotDeps extends ResendDeps {
  readonly retries: Pick<RetryPlan, "delaysMs">;
  /** Waits until the endpoint's rate allows another attempt. */
  readonly untilAllowed: (signal: AbortSignal) => Promise<void>;
}

/** After this many refusals a replay continues without the snapshot. */
const refusalsMax = 4;

/**
 * Skips a pending snapshot, even when ingest has not stored its delivery yet: otherwise the replay
 * would store a final row, and ingest could no longer store its pending row under the same id.
 *
 * @throws Unreachable when an attempt has failed: the replay then waits, and later repeats its page
 */
export async function replaySnapshot(
  deps: ReplaySnapshotDeps,
  {
    replay,
    endpoint,
    snapshot,
    stored,
    isSettled,
  }: {
    replay: Replay;
    endpoint: Endpoint;
    snapshot: ListedSnapshot;
    stored: SignedDelivery | undefined;
    /** Whether the snapshot was settled before `stored` was read. */
    isSettled: boolean;
  },
  signal: AbortSignal,
): Promise<Replayed> {
  // An earlier turn of the replay is done with this snapshot, and ended before its page was done.
  if (stored?.endedReplayId === replay.replayId) return stored.state === "delivered" ? "delivered" : "failed";
  if (!isFor(replay, stored) || (!stored && !isSettled)) return "skipped";
  const { replayId } = replay;
  let refusals = 0;
  const isLast = (outcome: AttemptOutcome) => verdictOf(outcome) === "refused" && refusals + 1 >= refusalsMax;
  for (let attempt = 1; ; attempt += 1) {
    await deps.untilAllowed(signal);
    const outcome = await resend(deps, { endpoint, reference: snapshot, replayId, attempt, isLast });
    if (!outcome) return "skipped";
    const verdict = verdictOf(outcome);
    if (verdict === "accepted") return "delivered";
    if (verdict === "failed") throw new Unreachable(outcome);
    refusals += 1;
    if (refusals >= refusalsMax) return "failed";
    await pause(delayOf(deps.retries, attempt, outcome.retryAfterMs), undefined, { signal });
  }
}

/**
 * Whether a replay includes a snapshot. Pending deliveries are sent by their lanes. A delivery that
 * this replay has attempted stays included, whatever its final state.
 *
 * @param stored the snapshot's delivery, if it has one
 */
export function isFor(
  { replayId, states }: Pick<Replay, "replayId" | "states">,
  stored: SignedDelivery | undefined,
): boolean {
  if (stored?.state === "pending") return false;
  const named: ReplayState = stored?.state ?? "missing";
  return states.includes(named) || stored?.lastReplayId === replayId;
}

/**
 * Longest delay between two attempts, or between two turns while the receiver cannot be reached,
 * unless `Retry-After` is longer.
 */
const delayMsMax = 5 * 60_000;

/**
 * Milliseconds to wait after the attempt, or the failed turn, with this number, from 1. At least
 * `retryAfterMs`, of which at most 24 h count.
 */
export function delayOf({ delaysMs }: Pick<RetryPlan, "delaysMs">, attempt: number, retryAfterMs = 0): number {
  const planned = delaysMs[Math.min(attempt, delaysMs.length) - 1] ?? 0;
  return Math.max(Math.min(planned, delayMsMax), Math.min(retryAfterMs, retryAfterMsMax));
}
