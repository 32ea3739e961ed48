import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { toErrorInfo } from "@vidimus/kit/rpc/error-table";
import { type IntakeDeps, type IntakeOutcome, takeIn } from "../domain/intake/take-in.ts";
import { callingActor } from "./calling-actor.ts";
import { fromCreateRequest } from "./intake-item.ts";

/** Most documents in one call. */
const itemsMax = 64;

/** Takes many documents in, each judged alone. */
export function batchCreateDocuments(deps: IntakeDeps): MethodImpl<typeof DocumentService.method.batchCreateDocuments> {
  return async ({ items }, context) => {
    if (items.length === 0 || items.length > itemsMax) {
      throw new DomainError("invalid", `a batch has 1 to ${itemsMax} items, this one ${items.length}`);
    }
    const outcomes = await takeIn(deps, items.map(fromCreateRequest), callingActor(context));
    return { results: outcomes.map(toResult) };
  };
}

function toResult(outcome: IntakeOutcome) {
  return outcome instanceof DomainError
    ? { outcome: { case: "error" as const, value: toErrorInfo(outcome) } }
    : { outcome: { case: "created" as const, value: outcome } };
}
