import { DomainError } from "@vidimus/kit/errors";
import type { TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls } from "../../rpc/called-methods.ts";

/** `GET /t/{tenant}/deliveries/{delivery}/body`: the exact body that is sent, as a file. */
export function sentBody({ deliveries }: { readonly deliveries: Pick<DeliveryCalls, "getDelivery"> }): TenantRoute {
  return {
    access: "member",
    method: "GET",
    path: "/deliveries/:delivery/body",
    right: "endpoints",
    handle: async ({ tenant: { tenantId }, params, rpc }) => {
      const deliveryId = params["delivery"] ?? "";
      const { delivery, request } = await deliveries.getDelivery({ tenantId, deliveryId, includeRequest: true }, rpc);
      if (!delivery || !request) throw new DomainError("not_found", "the endpoint or the snapshot is gone");
      const file = Buffer.from(request.body).toString();
      return { type: "application/json; charset=utf-8", name: `${delivery.webhookId}.json`, file };
    },
  };
}
