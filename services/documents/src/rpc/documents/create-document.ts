import { randomUUID } from "node:crypto";
import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { type IntakeDeps, takeIn } from "../../domain/intake/take-in.ts";
import { fromCreateRequest } from "./messages.ts";
import { callingActor } from "../requests.ts";

export function createDocument(deps: IntakeDeps): MethodImpl<typeof DocumentService.method.createDocument> {
  return async (request, context) => {
    const item = fromCreateRequest(request, callingActor(context));
    // A call without a token gets a random one: each such call is a new attempt. A batch may be
    // repeated, so it refuses a wrapped document without a token.
    const intakeToken = item.intakeToken === "" ? randomUUID() : item.intakeToken;
    const [outcome] = await takeIn(deps, [{ ...item, intakeToken }], context.signal);
    if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error("no outcome");
    return outcome;
  };
}
