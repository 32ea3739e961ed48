import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { RunTransition } from "../../domain/transitions/transition-queue.ts";
import { fromTransition, toTransitionResult } from "./messages.ts";
import { callingActor, callingTrace } from "../requests.ts";

/**
 * `transition` of `open-publishing.ts` queues the request, and announces the snapshot that the
 * transition makes.
 */
export interface TransitionDocumentDeps {
  transition: RunTransition;
}

export function transitionDocument({
  transition: run,
}: TransitionDocumentDeps): MethodImpl<typeof DocumentService.method.transitionDocument> {
  return async ({ tenantId, transition }, context) => {
    const request = fromTransition(transition, callingActor(context), callingTrace(context));
    return toTransitionResult(await run(requireTenantId(tenantId), request, context.signal));
  };
}
