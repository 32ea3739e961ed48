import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { DomainError } from "@vidimus/kit/errors";
import { type IntakeDeps, takeIn } from "../domain/intake/take-in.ts";
import { callingActor } from "./calling-actor.ts";
import { fromCreateRequest } from "./intake-item.ts";

/** Takes one document in. */
export function createDocument(deps: IntakeDeps): MethodImpl<typeof DocumentService.method.createDocument> {
  return async (request, context) => {
    const [outcome] = await takeIn(deps, [fromCreateRequest(request)], callingActor(context));
    if (outcome === undefined || outcome instanceof DomainError) throw outcome ?? new Error("no outcome");
    return outcome;
  };
}
