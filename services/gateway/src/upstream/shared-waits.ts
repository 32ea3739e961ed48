import type { CallOptions } from "@connectrpc/connect";
import { unlessAborted } from "@vidimus/kit/unless-aborted";

interface SharedWait<Answer> {
  readonly answer: Promise<Answer>;
  readonly begunMs: number;
  readonly end: AbortController;
  waiters: number;
}

/** A question that is answered when something has changed, or after `waitMs` milliseconds. */
interface WaitQuestion {
  readonly waitMs?: number;
}

/**
 * A call can be joined only in this first part of its time. So its answer comes at most this much
 * before the time that a joining caller asked for: 1 s of 20.
 */
const joinableMax = 1 / 20;

/**
 * Shares one waiting call between callers with the same question who come soon after each other,
 * for example because one change woke them all. A caller whose signal aborts is rejected with the
 * signal's reason; the call is aborted when the signals of all its callers are. The call has the
 * other options of its first caller.
 *
 * @param keyOf returns the same key for questions with the same answer
 */
export function shareWaits<Question extends WaitQuestion, Answer>(
  keyOf: (question: Question) => string,
  call: (question: Question, options: CallOptions) => Promise<Answer>,
): (question: Question, options: CallOptions) => Promise<Answer> {
  const waits = new Map<string, SharedWait<Answer>>();

  function begin(key: string, question: Question, options: CallOptions): SharedWait<Answer> {
    const end = new AbortController();
    const answer = call(question, { ...options, signal: end.signal });
    const wait = { answer, begunMs: performance.now(), end, waiters: 0 };
    const forget = () => {
      if (waits.get(key) === wait) waits.delete(key);
    };
    end.signal.addEventListener("abort", forget);
    answer.then(forget, forget);
    waits.set(key, wait);
    return wait;
  }

  return (question, options) => {
    const key = JSON.stringify([keyOf(question), question.waitMs]);
    const known = waits.get(key);
    const joins = known && performance.now() - known.begunMs <= (question.waitMs ?? 0) * joinableMax;
    return join(joins ? known : begin(key, question, options), options.signal);
  };
}

function join<Answer>(wait: SharedWait<Answer>, signal: AbortSignal | undefined): Promise<Answer> {
  wait.waiters += 1;
  return unlessAborted(wait.answer, signal, () => {
    wait.waiters -= 1;
    if (wait.waiters === 0) wait.end.abort(signal?.reason);
    return signal?.reason;
  });
}
