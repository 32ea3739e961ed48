import type { LeasedLane } from "../store/delivery-rows.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { Prepared } from "./attempt-lane.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";
import { rowOf } from "./lanes-in-hand.ts";
import type { MissingBodies } from "./missing-bodies.ts";

interface ReturnLaneDeps {
  readonly deliveries: Pick<DeliveryStore, "deletePending">;
  readonly lanes: Pick<LaneStore, "appointBearers" | "release">;
  readonly missingBodies: MissingBodies;
}

/**
 * Returns a lane whose next attempt cannot be made, and with it those that wait for the same reason.
 * The rows of a disabled endpoint stay as they are: only their leases end.
 */
export async function returnLane(
  { deliveries, lanes, missingBodies }: ReturnLaneDeps,
  queue: EndpointQueue,
  lane: LeasedLane,
  kind: Exclude<Prepared["kind"], "ready">,
): Promise<void> {
  const row = rowOf(lane);
  switch (kind) {
    case "gone":
      queue.drain();
      return deliveries.deletePending(queue.tenantId, queue.endpointId);
    case "disabled":
      queue.noteDisabled();
      return lanes.release([lane, ...queue.drain()], new Date());
    case "outrun":
      return row && lanes.appointBearers([row], new Date());
    case "unavailable":
      return lanes.release([lane], new Date(missingBodies.note(queue.endpointId, lane.bearer.deliveryId, Date.now())));
    case "lost":
  }
}
