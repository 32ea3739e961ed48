export interface RetryPlan {
  /** Delay after the first failed attempt, the second, and so on; the last delay repeats. */
  delaysMs: readonly number[];
  /**
   * A delivery is exhausted when its next attempt would be later than this after the delivery was
   * created or its endpoint was last enabled, whichever is later.
   */
  ageMsMax: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The retries that receivers are promised; docs/verify-webhooks.md lists them. */
export const promisedRetries: RetryPlan = {
  delaysMs: [5_000, 30_000, 2 * minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs, hourMs],
  ageMsMax: 72 * hourMs,
};

interface FailedAttempt {
  /** From 1; probes and expedited attempts do not count. */
  attempt: number;
  /** When the delivery was created or its endpoint was last enabled, whichever is later. */
  since: Date;
  endedAt: Date;
  retryAfterMs?: number | undefined;
}

const jitter = 0.2;
/** The most that counts of a receiver's `Retry-After`, in milliseconds. */
export const retryAfterMsMax = 24 * 60 * 60 * 1000;

/**
 * The time of the next attempt, at `notBefore` at the earliest; undefined when the delivery is
 * exhausted.
 *
 * @param random from 0 to 1, for the jitter of ±20 %
 */
export function nextAttemptAt(plan: RetryPlan, failed: FailedAttempt, random: number): Date | undefined {
  const delay = plan.delaysMs[Math.min(failed.attempt, plan.delaysMs.length) - 1] ?? 0;
  const planned = delay * (1 - jitter + 2 * jitter * random);
  const asked = notBefore(failed)?.getTime() ?? 0;
  const at = Math.max(failed.endedAt.getTime() + Math.round(planned), asked);
  return at - failed.since.getTime() > plan.ageMsMax ? undefined : new Date(at);
}

/**
 * The earliest time that the receiver's `Retry-After` allows, at most 24 h after the attempt;
 * undefined without one.
 */
export function notBefore({
  endedAt,
  retryAfterMs,
}: Pick<FailedAttempt, "endedAt" | "retryAfterMs">): Date | undefined {
  return retryAfterMs === undefined ? undefined : new Date(endedAt.getTime() + Math.min(retryAfterMs, retryAfterMsMax));
}

/**
 * A `Retry-After` header, seconds or an HTTP date, as milliseconds from `now`; undefined for
 * anything else.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2,8},? .+ GMT$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
