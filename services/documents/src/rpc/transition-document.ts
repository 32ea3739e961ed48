import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireTenantId } from "../domain/document/require-ids.ts";
import type { MoveDocument } from "../domain/publication/transition-queue.ts";
import { callingActor } from "./calling-actor.ts";
import { fromTransition, toMoved } from "./transition-message.ts";

/** What moving documents takes. */
export interface TransitionDeps {
  move: MoveDocument;
}

/** Moves one document along a transition of its workflow. */
export function transitionDocument({
  move,
}: TransitionDeps): MethodImpl<typeof DocumentService.method.transitionDocument> {
  return async ({ tenantId, transition }, context) => {
    const step = fromTransition(transition, callingActor(context));
    return toMoved(await move(requireTenantId(tenantId), step, context.signal));
  };
}
