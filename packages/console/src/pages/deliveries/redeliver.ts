import type { RedeliverResponse } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls } from "../../rpc/called-methods.ts";
import { patiently } from "../../rpc/patiently.ts";
import { refusable } from "../parts/faults.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { type SentForms, takeForm } from "../parts/take-form.ts";
import { answerPage } from "../parts/tenant-page.ts";
import { deliveryPage, readDelivery, type ShowDeliveryDeps, titleOf } from "./show-delivery.ts";

export interface RedeliverDeps extends ShowDeliveryDeps {
  readonly deliveries: Pick<DeliveryCalls, "getDelivery" | "redeliver">;
  readonly sentForms: SentForms;
}

/**
 * `POST /t/{tenant}/deliveries/{delivery}/again`: makes one attempt now, and shows its result. Of
 * a pending delivery the next attempt becomes due at once instead.
 */
export function redeliver(deps: RedeliverDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: "/deliveries/:delivery/again",
    right: "endpoints",
    handle: async (call) => {
      const { tenant, params, at } = call;
      const deliveryId = params["delivery"] ?? "";
      const taken = await takeForm(deps.sentForms, call);
      if ("before" in taken) return { to: taken.before?.path ?? at(`/deliveries/${deliveryId}`) };
      const before = meanwhile(readDelivery(deps, call));
      const request = { tenantId: tenant.tenantId, deliveryId };
      const sending = deps.deliveries.redeliver(request, patiently(taken.rpc));
      const sentPage = ({ attempt }: RedeliverResponse) => ({
        path: at(`/deliveries/${deliveryId}?done=${attempt ? "again" : "due"}`),
      });
      const sent = await refusable(taken.settle(sending, sentPage));
      if ("value" in sent) return { to: sentPage(sent.value).path };
      const shown = await before;
      const main = deliveryPage(shown, call, sent.faults);
      return answerPage(call, { title: titleOf(shown), main, status: 400 });
    },
  };
}
