import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { DomainError } from "@vidimus/kit/errors";
import { uuidv7 } from "@vidimus/kit/ids";
import { requireOpened } from "../domain/change-endpoint.ts";
import { type LoggedDelivery, shownState } from "../domain/delivery-log.ts";
import { noticePayload } from "../domain/endpoint-notice.ts";
import { resend, type ResendDeps } from "../replay/resend.ts";
import type { AuditedReplays } from "../store/audited-replays.ts";
import type { DeliveryLogStore } from "../store/delivery-log-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { EndpointKey } from "../domain/endpoint-key.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { attemptToProto, deliveryToProto } from "./delivery-message.ts";
import { requireDelivery } from "./get-delivery.ts";
import type { MayChange } from "./may-change.ts";

export interface RedeliverDeps extends Omit<ResendDeps, "record"> {
  endpoints: Pick<EndpointStore, "find">;
  deliveryLog: Pick<DeliveryLogStore, "find" | "recordResent">;
  auditedReplays: Pick<AuditedReplays, "noteRedelivery">;
  lanes: Pick<LaneStore, "expedite">;
  /** Lets the next probe of an open breaker wait for nothing but a `Retry-After`. */
  wantProbe: (endpoint: EndpointKey) => Promise<void>;
  /** Wakes the search for due lanes in the database. */
  wake: () => void;
}

/**
 * A final delivery gets one attempt outside of its lane, also at a disabled endpoint. It does not
 * become pending again, because its lane would then send an older snapshot after newer ones, for up
 * to 72 hours.
 */
export function redeliver(
  deps: RedeliverDeps,
  mayChange: MayChange,
): MethodImpl<typeof DeliveryLogService.method.redeliver> {
  return async (request, context) => {
    const by = mayChange(context);
    const delivery = await requireDelivery(deps.deliveryLog, request);
    const endpoint = await deps.endpoints.find(delivery.tenantId, delivery.endpointId);
    if (shownState(delivery.state, endpoint) === "held") {
      throw new DomainError("failed_precondition", "the delivery is held, and is sent when its endpoint is enabled");
    }
    await deps.auditedReplays.noteRedelivery(delivery, by);
    const attempt =
      delivery.state === "pending" ? await expediteLane(deps, delivery) : await resendOnce(deps, delivery);
    const now = await requireDelivery(deps.deliveryLog, request);
    return { delivery: deliveryToProto(now, endpoint), ...(attempt ? { attempt } : {}) };
  };
}

/**
 * Makes the lane of a pending delivery due. The order stays: older deliveries of the lane come
 * first.
 */
async function expediteLane({ lanes, wantProbe, wake }: RedeliverDeps, delivery: LoggedDelivery): Promise<undefined> {
  await lanes.expedite([delivery], new Date());
  await wantProbe(delivery);
  wake();
}

async function resendOnce(deps: RedeliverDeps, delivery: LoggedDelivery) {
  const { deliveryLog, post } = deps;
  const { notice, attemptCount } = delivery;
  const endpoint = await requireEndpoint(deps.endpoints, delivery);
  requireOpened(endpoint);
  const replayId = uuidv7();
  const payload = notice ? noticePayload(delivery, notice) : await deps.payloads.get(delivery);
  if (!payload) throw new DomainError("failed_precondition", "documents or signing have no such snapshot");
  const payloads = { get: async () => payload };
  const record: ResendDeps["record"] = (resent) => deliveryLog.recordResent([resent], new Date());
  const again = { endpoint, reference: delivery, replayId, attempt: attemptCount + 1, isLast: () => true };
  const outcome = await resend({ payloads, post, record }, again);
  if (!outcome) throw new DomainError("failed_precondition", "the endpoint does not get this event any more");
  return attemptToProto({ ...outcome, replayId });
}
