import type { TenantRoute } from "../../http/route.ts";
import { listDeliveries, type ListDeliveriesDeps } from "./list-deliveries.ts";
import { redeliver, type RedeliverDeps } from "./redeliver.ts";
import { sentBody } from "./sent-body.ts";
import { showDelivery } from "./show-delivery.ts";

export function deliveryRoutes(deps: ListDeliveriesDeps & RedeliverDeps): TenantRoute[] {
  return [listDeliveries(deps), showDelivery(deps), sentBody(deps), redeliver(deps)];
}
