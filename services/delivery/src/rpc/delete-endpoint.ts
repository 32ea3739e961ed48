import type { MethodImpl } from "@connectrpc/connect";
import type { EndpointService } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/uuid";
import type { EndpointDirectory } from "../send/endpoint-directory.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { parseTenantId } from "./tenant-id.ts";

/**
 * Removes a receiver and what is still owed to it. Killed in between, or overtaken by an intake that still saw the
 * receiver, pending rows are left: their attempt finds no endpoint and removes them.
 */
export function deleteEndpoint(deps: {
  endpoints: Pick<EndpointStore, "delete">;
  deliveries: Pick<DeliveryStore, "deletePending">;
  directory: Pick<EndpointDirectory, "forget">;
}): MethodImpl<typeof EndpointService.method.deleteEndpoint> {
  return async (request) => {
    const tenantId = parseTenantId(request.tenantId);
    const endpointId = parseUuid(request.endpointId);
    const deleted = endpointId !== undefined && (await deps.endpoints.delete(tenantId, endpointId));
    if (!deleted) throw new DomainError("not_found", "there is no such endpoint");
    deps.directory.forget(endpointId);
    await deps.deliveries.deletePending(tenantId, endpointId);
    return {};
  };
}
