import type { HandlerContext, MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { IdInUse, type IntakeDeps, type IntakeOutcome, takeIn } from "../../domain/intake/take-in.ts";
import { failed } from "../refused.ts";
import { fromDraft } from "./messages.ts";
import { callingActor } from "../requests.ts";

const draftsMax = 1_000;
/** Most documents that one insert stores. */
const chunkSize = 64;

/**
 * Takes documents of an archive in. One that was taken in before with the same content is answered
 * as `existing`, not as an error, so that an import can be repeated.
 */
export function importDocuments(deps: IntakeDeps): MethodImpl<typeof DocumentService.method.importDocuments> {
  return async ({ tenantId, drafts }, context) => {
    if (drafts.length === 0 || drafts.length > draftsMax) {
      throw new DomainError("invalid", `an import has 1 to ${draftsMax} documents, this one ${drafts.length}`);
    }
    const createdBy = callingActor(context);
    const items = drafts.map((draft) => ({ tenantId, ...fromDraft(draft), createdBy }));
    const results: ReturnType<typeof toResult>[] = [];
    for (let start = 0; start < items.length; start += chunkSize) {
      context.signal.throwIfAborted();
      const chunk = items.slice(start, start + chunkSize);
      const outcomes = await takeIn(deps, chunk, context.signal);
      results.push(...outcomes.map((outcome) => toResult(outcome, context)));
    }
    return { results };
  };
}

function toResult(outcome: IntakeOutcome, context: HandlerContext) {
  if (!(outcome instanceof Error)) return { outcome: { case: "created" as const, value: outcome } };
  if (outcome instanceof IdInUse && outcome.sameContent) {
    return { outcome: { case: "existing" as const, value: { documentId: outcome.documentId } } };
  }
  return failed(outcome, context);
}
