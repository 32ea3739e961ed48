import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import type { DeleteUndelivered } from "../lanes/delete-undelivered.ts";
import type { EndpointDirectory } from "../lanes/endpoint-directory.ts";
import type { AuditedEndpoints } from "../store/audited-endpoints.ts";
import type { MayChange } from "./may-change.ts";

export interface DeleteEndpointDeps {
  audited: Pick<AuditedEndpoints, "delete">;
  deleteUndelivered: DeleteUndelivered;
  directory: Pick<EndpointDirectory, "forget">;
}

/**
 * Up to a thousand pending deliveries are deleted before the answer, the others after it. Some
 * remain when the process dies meanwhile, or when a concurrent ingest has read the endpoint before
 * its deletion. When one of them is due, the sender finds no endpoint and deletes them all.
 */
export function deleteEndpoint(
  deps: DeleteEndpointDeps,
  mayChange: MayChange,
): MethodImpl<typeof EndpointService.method.deleteEndpoint> {
  return async (request, context) => {
    const by = mayChange(context);
    const tenantId = requireTenantId(request.tenantId);
    const endpointId = parseUuid(request.endpointId);
    const deleted = endpointId !== undefined && (await deps.audited.delete(tenantId, endpointId, by));
    if (!deleted) throw new DomainError("not_found", "there is no such endpoint");
    deps.directory.forget(endpointId);
    await deps.deleteUndelivered({ tenantId, endpointId });
    return {};
  };
}
