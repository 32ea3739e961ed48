import type { MethodImpl } from "@connectrpc/connect";
import type { DocumentService } from "@vidimus/contracts/vidimus/documents/v1/document_service";
import { requireTenantId } from "@vidimus/kit/ids";
import { toErrorInfo } from "@vidimus/kit/rpc/errors/error-table";
import { requireDocumentId } from "../../domain/document/require-ids.ts";
import {
  type AllowedTransition,
  listTransitions as list,
  type ListTransitionsDeps,
} from "../../domain/transitions/list-transitions.ts";
import { callingActor } from "../requests.ts";
import { toLastPublished } from "./messages.ts";

export function listTransitions(
  deps: Omit<ListTransitionsDeps, "publications"> & { publishing: Pick<ListTransitionsDeps, "publications"> },
): MethodImpl<typeof DocumentService.method.listTransitions> {
  const { publications } = deps.publishing;
  return async (request, context) => {
    const tenantId = requireTenantId(request.tenantId);
    const documentId = requireDocumentId(request.documentId);
    const caller = callingActor(context);
    const by = request.role === "" ? caller : { ...caller, role: request.role };
    const allowed = await list({ ...deps, publications }, { tenantId, documentId }, by, context.signal);
    const { version, status, lastPublished } = allowed.head;
    return {
      version: BigInt(version),
      status,
      ...(lastPublished ? { lastPublished: toLastPublished(lastPublished) } : {}),
      mayUpdate: allowed.mayUpdate,
      transitions: allowed.transitions.map(toAllowed),
    };
  };
}

function toAllowed({ name, version, from, to, guards, refusal }: AllowedTransition) {
  return {
    name,
    expectedVersion: BigInt(version),
    fromStatus: from,
    toStatus: to,
    guards: [...guards],
    ...(refusal ? { refusal: toErrorInfo(refusal) } : {}),
  };
}
