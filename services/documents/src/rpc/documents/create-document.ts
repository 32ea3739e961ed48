import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { type IntakeDeps, takeIn } from "../../domain/intake/take-in.ts";
import { fromCreateRequest } from "./messages.ts";
import { callingActor } from "../requests.ts";

export function createDocument(deps: IntakeDeps): MethodImpl<typeof DocumentService.method.createDocument> {
  return async (request, context) => {
    const [outcome] = await takeIn(deps, [fromCreateRequest(request, callingActor(context))], context.signal);
    if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error("no outcome");
    return outcome;
  };
}
