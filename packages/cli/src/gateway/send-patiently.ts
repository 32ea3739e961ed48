/** An answer, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** How a request came out, and what is known about the attempts before. */
export interface Outcome {
  readonly answer: Answer;
  /** An earlier attempt may have been carried out although its answer said otherwise or never came. */
  readonly lost: boolean;
}

/** How long and how often to try. */
export interface Patience {
  /** A repeat of the request does no harm. */
  readonly repeatable: boolean;
  /** Longest sum of pauses. */
  readonly maxWaitMs: number;
  sleep(ms: number): Promise<void>;
}

/** Pauses where nobody said how long to wait; their number bounds the attempts. */
const pausesMs = [250, 500, 1_000, 2_000, 4_000] as const;

/**
 * Sends a request until it is answered. Waits out `Retry-After` of a 429 or 503, and tries again after a connection
 * failure or a 502, 503 or 504 if the request may be repeated.
 *
 * @returns the last answer, which may still be a 429 or a 5xx when patience ended first
 * @throws the last connection failure when patience ended on one
 */
export async function sendPatiently(send: () => Promise<Answer>, patience: Patience): Promise<Outcome> {
  let waitedMs = 0;
  let lost = false;
  for (let blind = 0; ;) {
    const attempt = await settle(send);
    const toldMs = "answer" in attempt ? retryAfterMs(attempt.answer) : undefined;
    const pauseMs = mayRepeat(attempt, patience) ? (toldMs ?? pausesMs[blind++]) : undefined;
    if (pauseMs === undefined || waitedMs + pauseMs > patience.maxWaitMs) {
      if ("answer" in attempt) return { answer: attempt.answer, lost };
      throw attempt.failure;
    }
    lost ||= mayHaveHappened(attempt);
    waitedMs += pauseMs;
    await patience.sleep(pauseMs);
  }
}

type Attempt = { answer: Answer } | { failure: unknown };

async function settle(send: () => Promise<Answer>): Promise<Attempt> {
  try {
    return { answer: await send() };
  } catch (failure) {
    return { failure };
  }
}

function mayRepeat(attempt: Attempt, { repeatable }: Patience): boolean {
  if ("failure" in attempt) return repeatable || neverSent(attempt.failure);
  const { status } = attempt.answer;
  return status === 429 || (repeatable && [502, 503, 504].includes(status));
}

function mayHaveHappened(attempt: Attempt): boolean {
  return "failure" in attempt ? !neverSent(attempt.failure) : attempt.answer.status !== 429;
}

/** The connection never stood, so nobody saw the request. */
function neverSent(failure: unknown): boolean {
  const cause: unknown = failure instanceof Error ? failure.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN";
}

function retryAfterMs({ status, headers }: Answer): number | undefined {
  const text = headers.get("retry-after");
  if (text === null || (status !== 429 && status !== 503)) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  // "0" would have a full bucket asked thousands of times a second.
  return Number.isFinite(ms) ? Math.max(ms, pausesMs[0]) : undefined;
}
