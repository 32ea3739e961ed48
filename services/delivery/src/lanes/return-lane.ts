import type { LeasedLane } from "../store/delivery-rows.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { Prepared } from "./attempt-lane.ts";
import type { DeleteUndelivered } from "./delete-undelivered.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";
import { rowOf } from "./lanes-in-hand.ts";
import type { MissingBodies } from "./missing-bodies.ts";

interface ReturnLaneDeps {
  readonly deleteUndelivered: DeleteUndelivered;
  readonly lanes: Pick<LaneStore, "appointBearers" | "release">;
  readonly missingBodies: MissingBodies;
}

/**
 * Ends this process's work on a lane whose next attempt cannot be made. When its endpoint is
 * deleted or disabled, all waiting lanes leave the queue, too. The rows of a disabled endpoint stay
 * undelivered: only leases end, so each lane is due at once when the endpoint is enabled.
 */
export async function returnLane(
  { deleteUndelivered, lanes, missingBodies }: ReturnLaneDeps,
  queue: EndpointQueue,
  lane: LeasedLane,
  kind: Exclude<Prepared["kind"], "ready">,
): Promise<void> {
  const row = rowOf(lane);
  switch (kind) {
    case "gone":
      queue.drain();
      return deleteUndelivered(queue);
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
