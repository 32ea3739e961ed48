/**
 * Makes one call for all who ask the same at the same time. Nobody gets the answer to a question that was asked before
 * their own: who comes while a call is under way shares the next one with all others who wait, so that a reader always
 * sees what was written before it asked. An idle lane calls at once.
 *
 * @param keyOf equal for questions that have one answer
 * @returns `call`, shared
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
