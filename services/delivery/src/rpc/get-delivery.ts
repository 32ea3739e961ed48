import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import type { LoggedDelivery } from "../domain/delivery-log.ts";
import type { DeliveryLogStore } from "../store/delivery-log-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { attemptToProto, deliveryToProto } from "./delivery-message.ts";
import { type DeliveryRequestDeps, recomputedRequest } from "./delivery-request.ts";

export interface GetDeliveryDeps extends DeliveryRequestDeps {
  endpoints: Pick<EndpointStore, "find">;
  deliveryLog: Pick<DeliveryLogStore, "find">;
}

export function getDelivery(deps: GetDeliveryDeps): MethodImpl<typeof DeliveryLogService.method.getDelivery> {
  return async (request) => {
    const delivery = await requireDelivery(deps.deliveryLog, request);
    const endpoint = await deps.endpoints.find(delivery.tenantId, delivery.endpointId);
    const isAsked = request.includeRequest && endpoint !== undefined;
    const sent = isAsked ? await recomputedRequest(deps, delivery, endpoint) : undefined;
    const attempts = delivery.attempts.map(attemptToProto);
    return { delivery: deliveryToProto(delivery, endpoint), attempts, ...(sent ? { request: sent } : {}) };
  };
}

/**
 * @throws DomainError `not_found` when the tenant has no such delivery; `invalid` for a malformed
 * tenant id
 */
export async function requireDelivery(
  deliveryLog: Pick<DeliveryLogStore, "find">,
  name: { readonly tenantId: string; readonly deliveryId: string },
): Promise<LoggedDelivery> {
  const tenantId = requireTenantId(name.tenantId);
  const deliveryId = parseUuid(name.deliveryId);
  const found = deliveryId === undefined ? undefined : await deliveryLog.find(tenantId, deliveryId);
  if (!found) throw new DomainError("not_found", "there is no such delivery");
  return found;
}
