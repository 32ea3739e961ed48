/** When a delivery is tried again. */
export interface RetryPlan {
  /** Wait after the first failed attempt, after the second, …; the last one repeats. */
  delaysMs: readonly number[];
  /** A delivery that would be tried later than this after its making is given up. */
  ageMsMax: number;
}

/** A failed attempt, as far as the next one depends on it. */
export interface FailedAttempt {
  /** From 1; attempts made before their time are not counted. */
  attempt: number;
  /** When the delivery was made. */
  createdAt: Date;
  /** When the attempt ended. */
  endedAt: Date;
  /** What the receiver asked for, if it did. */
  retryAfterMs?: number | undefined;
}

const jitter = 0.2;
const retryAfterMsMax = 24 * 60 * 60 * 1000;

/**
 * When to try again; undefined when the delivery is exhausted. A receiver's `Retry-After` is never undercut, up to 24 h.
 *
 * @param random from 0 to 1, for the jitter of ±20 %
 */
export function nextAttemptAt(plan: RetryPlan, failed: FailedAttempt, random: number): Date | undefined {
  const delay = plan.delaysMs[Math.min(failed.attempt, plan.delaysMs.length) - 1] ?? 0;
  const planned = delay * (1 - jitter + 2 * jitter * random);
  const asked = notBefore(failed)?.getTime() ?? 0;
  const at = Math.max(failed.endedAt.getTime() + Math.round(planned), asked);
  return at - failed.createdAt.getTime() > plan.ageMsMax ? undefined : new Date(at);
}

/** Before when the receiver asked not to be tried again, if it did: at most 24 h on. */
export function notBefore({
  endedAt,
  retryAfterMs,
}: Pick<FailedAttempt, "endedAt" | "retryAfterMs">): Date | undefined {
  return retryAfterMs === undefined ? undefined : new Date(endedAt.getTime() + Math.min(retryAfterMs, retryAfterMsMax));
}

/** Reads a `Retry-After` header, seconds or an HTTP date, as milliseconds from `now`; undefined when it says neither. */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2,8},? .+ GMT$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
