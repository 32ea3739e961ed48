import { DomainError } from "@vidimus/kit/errors";
import { requestTokenReused } from "../document/request-token.ts";
import type { TransitionEntry } from "./changes.ts";
import type { TransitionRequest, TransitionResult, TransitionOutcome } from "./attempt.ts";
import type { TransitionTransaction } from "./transition-transaction.ts";

/**
 * A request whose token is in its document's history gets the first answer, or is refused when the
 * token belongs to a different request. A request that `outcomes` refuses with `permission_denied`
 * keeps that refusal.
 *
 * `transitionBatch` calls this only for refused requests and, after a unique index refused a row,
 * for all, so that a first request that succeeds costs no extra statement.
 */
export async function answerRepeated(
  transaction: Pick<TransitionTransaction, "readRequests">,
  requests: readonly TransitionRequest[],
  outcomes: Map<string, TransitionOutcome>,
): Promise<void> {
  const named = requests.flatMap((request) => {
    const { documentId, requestToken = "" } = request;
    return requestToken === "" || isForbidden(outcomes.get(documentId)) ? [] : [{ ...request, requestToken }];
  });
  if (named.length === 0) return;
  const entries = await transaction.readRequests(named);
  const entryOf = new Map(entries.map((entry) => [entry.documentId, entry]));
  for (const request of named) {
    const entry = entryOf.get(request.documentId);
    if (entry) outcomes.set(request.documentId, answered(request, entry));
  }
}

/** Whether the caller's role may not take the transition, whatever state the document is in. */
function isForbidden(outcome: TransitionOutcome): boolean {
  return outcome instanceof DomainError && outcome.kind === "permission_denied";
}

function answered(asked: TransitionRequest, entry: TransitionEntry): TransitionResult | DomainError {
  const { documentId, transition, version, to: status, request } = entry;
  if (!request || transition !== asked.name || version !== asked.expectedVersion) return requestTokenReused();
  const { type, sequence, updatedAt } = request;
  return { documentId, type, version, status, sequence, ...(updatedAt ? { updatedAt } : {}) };
}
