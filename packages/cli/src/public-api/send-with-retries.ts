import { StoppedStackError } from "../settings/stopped-stack.ts";

/** An answer with its whole body, or "" for a body that the caller streams. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export interface Outcome {
  readonly answer: Answer;
  /** Whether an earlier attempt may have been carried out: its answer was lost, or was a 5xx. */
  readonly lost: boolean;
}

interface RetryPolicy {
  /** Whether the request is idempotent. */
  readonly repeatable: boolean;
  /** Longest total of pauses for one request. */
  readonly maxWaitMs: number;
  sleep(ms: number): Promise<void>;
}

/** Pauses after failures without `Retry-After`; their number bounds these retries. */
const pausesMs = [250, 500, 1_000, 2_000, 4_000] as const;

/**
 * Sends a request until it has a final answer. Waits out `Retry-After` of a 429, and of a 503 if
 * the request is repeatable. A repeatable request is also sent again after a connection failure, a
 * 502, 503 or 504; any request is sent again after a 429 or a connection that was never
 * established. A `StoppedStackError` is thrown at once.
 *
 * @returns the last answer, which is a 429 or 5xx when the policy allows no further attempt
 * @throws the last connection failure when the policy allows no further attempt
 */
export async function sendWithRetries(send: () => Promise<Answer>, policy: RetryPolicy): Promise<Outcome> {
  let waitedMs = 0;
  let lost = false;
  for (let retry = 0; ;) {
    const attempt = await tryOnce(send);
    const askedMs = "answer" in attempt ? retryAfterMs(attempt.answer) : undefined;
    const pauseMs = mayRepeat(attempt, policy) ? (askedMs ?? pausesMs[retry++]) : undefined;
    if (pauseMs === undefined || waitedMs + pauseMs > policy.maxWaitMs) {
      if ("answer" in attempt) return { answer: attempt.answer, lost };
      throw attempt.failure;
    }
    lost ||= mayHaveHappened(attempt);
    waitedMs += pauseMs;
    await policy.sleep(pauseMs);
  }
}

type Attempt = { answer: Answer } | { failure: unknown };

async function tryOnce(send: () => Promise<Answer>): Promise<Attempt> {
  try {
    return { answer: await send() };
  } catch (failure) {
    return { failure };
  }
}

function mayRepeat(attempt: Attempt, { repeatable }: RetryPolicy): boolean {
  if ("failure" in attempt) return mayRepeatFailure(attempt.failure, repeatable);
  const { status } = attempt.answer;
  return status === 429 || (repeatable && [502, 503, 504].includes(status));
}

function mayRepeatFailure(failure: unknown, repeatable: boolean): boolean {
  return !(failure instanceof StoppedStackError) && (repeatable || neverSent(failure));
}

function mayHaveHappened(attempt: Attempt): boolean {
  return "failure" in attempt ? !neverSent(attempt.failure) : attempt.answer.status !== 429;
}

/**
 * Whether the connection was never established, so that the gateway did not receive the request.
 */
function neverSent(failure: unknown): boolean {
  const cause: unknown = failure instanceof Error ? failure.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN";
}

function retryAfterMs({ status, headers }: Answer): number | undefined {
  const text = headers.get("retry-after");
  if (text === null || (status !== 429 && status !== 503)) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  // Without a minimum, "0" would repeat the request thousands of times a second.
  return Number.isFinite(ms) ? Math.max(ms, pausesMs[0]) : undefined;
}
