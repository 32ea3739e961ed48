import type { HandlerContext, MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { type IntakeDeps, type IntakeOutcome, takeIn } from "../../domain/intake/take-in.ts";
import { failed } from "../refused.ts";
import { fromCreateRequest } from "./messages.ts";
import { callingActor, requireBatch } from "../requests.ts";

/**
 * Takes up to 64 documents in; each succeeds or fails on its own.
 *
 * @param fromItem reads an item, given the actor of the call; what it throws fails the whole call.
 * `fromCreateRequest` at the teams door, `fromGatewayItem` at the mesh door
 */
export function batchCreateDocuments(
  deps: IntakeDeps,
  fromItem = fromCreateRequest,
): MethodImpl<typeof DocumentService.method.batchCreateDocuments> {
  return async ({ items }, context) => {
    requireBatch(items);
    const by = callingActor(context);
    const drafts = items.map((item) => fromItem(item, by));
    const outcomes = await takeIn(deps, drafts, context.signal);
    return { results: outcomes.map((outcome) => toResult(outcome, context)) };
  };
}

function toResult(outcome: IntakeOutcome, context: HandlerContext) {
  return outcome instanceof Error
    ? failed(outcome, context)
    : { outcome: { case: "created" as const, value: outcome } };
}
