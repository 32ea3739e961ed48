import { withinDeadline } from "../deadline.ts";

interface ShareOptions {
  /** Milliseconds after which other callers no longer wait for the end of a running call. */
  readonly lateMs: number;
  /** Most running calls with the same question; further callers wait until one ends. */
  readonly outMax: number;
}

interface Lane<Answer> {
  /** For each running call, a promise that resolves when the call has ended. */
  readonly out: Set<Promise<void>>;
  /** Resolves when the newest running call has ended or is late. */
  turn: Promise<unknown>;
  next?: Promise<Answer>;
  /** The answer that arrived last; it may be that of a late call. */
  last?: Answer;
}

/**
 * Shares one call between concurrent callers with the same question. Callers that arrive while a
 * call runs share the next call, because an answer must include every write that finished before
 * its caller asked. Without a running call the call starts at once; the next one starts when the
 * running one ends or is late. A call that waited for another one is also given `last`, the answer
 * to the same question that arrived last.
 *
 * @param keyOf returns the same key for questions with the same answer
 */
export function shareCalls<Question, Answer>(
  keyOf: (question: Question) => string,
  call: (question: Question, last: Answer | undefined) => Promise<Answer>,
  { lateMs, outMax }: ShareOptions,
): (question: Question) => Promise<Answer> {
  const lanes = new Map<string, Lane<Answer>>();

  function start(key: string, lane: Lane<Answer>, question: Question): Promise<Answer> {
    delete lane.next;
    const answer = call(question, lane.last);
    const end = () => {
      lane.out.delete(ended);
      if (lane.out.size === 0 && !lane.next) lanes.delete(key);
    };
    const keep = (value: Answer) => {
      lane.last = value;
      end();
    };
    const ended: Promise<void> = answer.then(keep, end);
    lane.out.add(ended);
    lane.turn = withinDeadline(ended, lateMs);
    return answer;
  }

  async function startInTurn(key: string, lane: Lane<Answer>, question: Question): Promise<Answer> {
    await lane.turn;
    while (lane.out.size >= outMax) await Promise.race(lane.out);
    return start(key, lane, question);
  }

  return (question) => {
    const key = keyOf(question);
    const lane = lanes.get(key) ?? { out: new Set(), turn: Promise.resolve() };
    lanes.set(key, lane);
    if (lane.out.size === 0 && !lane.next) return start(key, lane, question);
    lane.next ??= startInTurn(key, lane, question);
    return lane.next;
  };
}
