/**
 * Shares one call between concurrent callers with the same question. A caller never gets the answer
 * of a call that started before it asked: callers that arrive during a call share the next call. So
 * each caller sees every write that was finished before it asked. Without a running call, the call
 * starts at once.
 *
 * @param keyOf returns the same key for questions with the same answer
 * @returns `call` with sharing
 */
export function shareCalls<Question, Answer>(
  keyOf: (question: Question) => string,
  call: (question: Question) => Promise<Answer>,
): (question: Question) => Promise<Answer> {
  const lanes = new Map<string, { settled: Promise<void>; next?: Promise<Answer> }>();

  function start(key: string, question: Question): Promise<Answer> {
    const answer = call(question);
    const end = () => {
      if (lanes.get(key) === lane && !lane.next) lanes.delete(key);
    };
    const lane: { settled: Promise<void>; next?: Promise<Answer> } = { settled: answer.then(end, end) };
    lanes.set(key, lane);
    return answer;
  }

  return (question) => {
    const key = keyOf(question);
    const lane = lanes.get(key);
    if (!lane) return start(key, question);
    lane.next ??= lane.settled.then(() => start(key, question));
    return lane.next;
  };
}
