import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { TransitionDocument } from "../../domain/transitions/transition-queue.ts";
import { fromTransition, toTransitioned } from "./messages.ts";
import { callingActor, callingTrace } from "../requests.ts";

/** Queues the transition and then announces its snapshot: `open-publication.ts`. */
export interface TransitionDocumentDeps {
  transition: TransitionDocument;
}

/** Takes one document through a transition of its workflow. */
export function transitionDocument({
  transition: run,
}: TransitionDocumentDeps): MethodImpl<typeof DocumentService.method.transitionDocument> {
  return async ({ tenantId, transition }, context) => {
    const request = fromTransition(transition, callingActor(context), callingTrace(context));
    return toTransitioned(await run(requireTenantId(tenantId), request, context.signal));
  };
}
