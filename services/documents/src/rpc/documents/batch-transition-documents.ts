import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { asDomainError } from "@vidimus/kit/rpc/errors/error-table";
import { requireTenantId } from "@vidimus/kit/ids";
import type { TransitionResult } from "../../domain/transitions/attempt.ts";
import type { TransitionDocumentDeps } from "./transition-document.ts";
import { refused } from "../refused.ts";
import { fromTransition, toTransitionResult } from "./messages.ts";
import { callingActor, callingTrace, requireBatch } from "../requests.ts";

export function batchTransitionDocuments({
  transition: run,
}: TransitionDocumentDeps): MethodImpl<typeof DocumentService.method.batchTransitionDocuments> {
  return async ({ tenantId, transitions }, context) => {
    requireBatch(transitions, "transitions");
    const tenant = requireTenantId(tenantId);
    const by = callingActor(context);
    const traceparent = callingTrace(context);
    const seen = new Set<string>();
    const results = transitions.map(async (transition) => {
      const request = fromTransition(transition, by, traceparent);
      if (seen.has(request.documentId))
        throw new DomainError("invalid", `document ${request.documentId} is there twice`);
      seen.add(request.documentId);
      return run(tenant, request, context.signal);
    });
    return { results: await Promise.all(results.map(toResult)) };
  };
}

async function toResult(transitioned: Promise<TransitionResult>) {
  try {
    return { outcome: { case: "transitioned" as const, value: toTransitionResult(await transitioned) } };
  } catch (error) {
    const expected = asDomainError(error);
    if (!expected) throw error;
    return refused(expected);
  }
}
