import { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { DoorRoutes } from "@vidimus/kit/service/open-doors";
import { meshRoute, route, teamsRoute } from "@vidimus/kit/rpc/doors/shared/route";
import { cancelReplay, type CancelReplayDeps } from "./cancel-replay.ts";
import { countDeliveries, type CountDeliveriesDeps } from "./count-deliveries.ts";
import { countReplay, type CountReplayDeps } from "./count-replay.ts";
import { getDelivery, type GetDeliveryDeps } from "./get-delivery.ts";
import { getReplay, type GetReplayDeps } from "./get-replay.ts";
import { listDeliveries, type ListDeliveriesDeps } from "./list-deliveries.ts";
import { listReplays, type ListReplaysDeps } from "./list-replays.ts";
import { integratorsMayChange, gatewayMayChange, type MayChange } from "./may-change.ts";
import { redeliver, type RedeliverDeps } from "./redeliver.ts";
import { startReplay, type StartReplayDeps } from "./start-replay.ts";

type DeliveryLogRoutesDeps = CancelReplayDeps &
  CountDeliveriesDeps &
  CountReplayDeps &
  GetDeliveryDeps &
  GetReplayDeps &
  ListDeliveriesDeps &
  ListReplaysDeps &
  RedeliverDeps &
  StartReplayDeps;

export function deliveryLogRoutes(deps: DeliveryLogRoutesDeps): DoorRoutes {
  const mesh = meshRoute(methodsOf(deps, gatewayMayChange), {
    listDeliveries: ["gateway"],
    getDelivery: ["gateway"],
    redeliver: ["gateway"],
    startReplay: ["gateway"],
    countReplay: [],
    getReplay: ["gateway"],
    listReplays: ["gateway"],
    cancelReplay: ["gateway"],
    countDeliveries: [],
  });
  const teams = teamsRoute(methodsOf(deps, integratorsMayChange), {
    listDeliveries: "read",
    getDelivery: "read",
    redeliver: "write",
    startReplay: "write",
    countReplay: "read",
    getReplay: "read",
    listReplays: "read",
    cancelReplay: "write",
    countDeliveries: "read",
  });
  return { teams: [teams], mesh: [mesh] };
}

function methodsOf(deps: DeliveryLogRoutesDeps, mayChange: MayChange) {
  return route(DeliveryLogService, {
    listDeliveries: listDeliveries(deps),
    getDelivery: getDelivery(deps),
    redeliver: redeliver(deps, mayChange),
    startReplay: startReplay(deps, mayChange),
    countReplay: countReplay(deps),
    getReplay: getReplay(deps),
    listReplays: listReplays(deps),
    cancelReplay: cancelReplay(deps, mayChange),
    countDeliveries: countDeliveries(deps),
  });
}
