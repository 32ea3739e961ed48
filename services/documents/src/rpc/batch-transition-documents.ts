import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { asDomainError } from "@vidimus/kit/rpc/error-table";
import { requireTenantId } from "../domain/document/require-ids.ts";
import type { Moved } from "../domain/publication/move-documents.ts";
import { callingActor } from "./calling-actor.ts";
import type { TransitionDeps } from "./transition-document.ts";
import { fromTransition, toMoved } from "./transition-message.ts";
import { refused } from "./refused.ts";
import { requireBatch } from "./require-batch.ts";

/** Moves many documents of one tenant, each judged alone. */
export function batchTransitionDocuments({
  move,
}: TransitionDeps): MethodImpl<typeof DocumentService.method.batchTransitionDocuments> {
  return async ({ tenantId, transitions }, context) => {
    requireBatch(transitions, "transitions");
    const tenant = requireTenantId(tenantId);
    const by = callingActor(context);
    const seen = new Set<string>();
    const results = transitions.map(async (transition) => {
      const step = fromTransition(transition, by);
      if (seen.has(step.documentId)) throw new DomainError("invalid", `document ${step.documentId} is there twice`);
      seen.add(step.documentId);
      return move(tenant, step, context.signal);
    });
    return { results: await Promise.all(results.map(toResult)) };
  };
}

async function toResult(moved: Promise<Moved>) {
  try {
    return { outcome: { case: "moved" as const, value: toMoved(await moved) } };
  } catch (error) {
    const expected = asDomainError(error);
    if (!expected) throw error;
    return refused(expected);
  }
}
