import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { DomainError } from "@vidimus/kit/errors";
import { uuidv7 } from "@vidimus/kit/ids";
import { resend, type ResendDeps } from "../replay/resend.ts";
import type { DeliveryLogStore } from "../store/delivery-log-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { attemptToProto, deliveryToProto } from "./delivery-message.ts";
import { requireDelivery } from "./get-delivery.ts";
import type { MayChange } from "./may-change.ts";

export interface RedeliverDeps extends ResendDeps {
  endpoints: Pick<EndpointStore, "find">;
  deliveryLog: Pick<DeliveryLogStore, "find" | "recordResent">;
}

/** Implements `Redeliver`: one attempt, also at a disabled endpoint. */
export function redeliver(
  deps: RedeliverDeps,
  mayChange: MayChange,
): MethodImpl<typeof DeliveryLogService.method.redeliver> {
  return async (request, context) => {
    mayChange(context);
    const delivery = await requireDelivery(deps.deliveryLog, request);
    const { state, tenantId, endpointId, attemptCount } = delivery;
    if (state === "pending" || state === "held") {
      throw new DomainError("failed_precondition", `the delivery is ${state}, and is sent by itself`);
    }
    const endpoint = await requireEndpoint(deps.endpoints, { tenantId, endpointId });
    const replayId = uuidv7();
    const attempt = attemptCount + 1;
    const outcome = await resend(deps, { endpoint, reference: delivery, replayId, attempt, isLast: () => true });
    if (!outcome) throw new DomainError("failed_precondition", "the endpoint does not get this event any more");
    const now = await requireDelivery(deps.deliveryLog, request);
    return { delivery: deliveryToProto(now), attempt: attemptToProto({ ...outcome, replayId }) };
  };
}
