import type { CallOptions } from "@connectrpc/connect";
import { withinDeadline } from "@vidimus/kit/deadline";
import { DomainError } from "@vidimus/kit/errors";
import { shareCall } from "@vidimus/kit/rpc/context/call-span";

/** After this time a call no longer holds back the next one of its lane, up to 8 at a time. */
const late = { afterMs: 100, outMax: 8 };
/** From the arrival of a read, or of a question about a tag, to its answer. */
const timeoutMs = 10_000;
const tooLate = () => new DomainError("deadline_exceeded", "the documents service did not answer in time");

/**
 * For batchers of reads. Their lanes hold questions of one tenant only, because all questions in a
 * call wait for its largest answer.
 */
export const rules = { lanesInFlightMax: 32, late, deadline: { ms: timeoutMs, error: tooLate } };

/** Rejects with `deadline_exceeded` after 10 s, even if the call to documents began later. */
export async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  if (!(await withinDeadline(answer, timeoutMs))) throw tooLate();
  return answer;
}

/**
 * A shared call has the metadata of one of its questions, and as much time as the newest one has
 * left.
 */
export function optionsOf(questions: readonly { readonly rpc: CallOptions }[], leftMs: number): CallOptions {
  return { ...shareCall(questions.map(({ rpc }) => rpc)), timeoutMs: Math.max(1, leftMs) };
}
