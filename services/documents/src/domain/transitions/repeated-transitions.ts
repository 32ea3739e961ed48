import { DomainError } from "@vidimus/kit/errors";
import { requestTokenReused } from "../document/request-token.ts";
import type { TransitionEntry } from "./changes.ts";
import type { DocumentTransition, Transitioned } from "./attempt.ts";
import type { TransitionOutcome } from "./transition-documents.ts";
import type { TransitionTransaction } from "./transition-transaction.ts";

/**
 * Answers those of the requests whose token is in the history of their document as the first one
 * was answered; the others keep the outcome that they have.
 *
 * Nothing is asked for before a request is refused, or its token by the index: a request that is
 * the first of its token costs no statement more.
 */
export async function answerRepeated(
  transaction: Pick<TransitionTransaction, "readRequests">,
  requests: readonly DocumentTransition[],
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

/** Whether the caller may not do this, which does not depend on where the document stands. */
function isForbidden(outcome: TransitionOutcome): boolean {
  return outcome instanceof DomainError && outcome.kind === "permission_denied";
}

function answered(asked: DocumentTransition, entry: TransitionEntry): Transitioned | DomainError {
  const { documentId, transition, version, to: status, request } = entry;
  if (!request || transition !== asked.name || version !== asked.expectedVersion) return requestTokenReused();
  const { type, sequence, updatedAt } = request;
  return { documentId, type, version, status, sequence, ...(updatedAt ? { updatedAt } : {}) };
}
