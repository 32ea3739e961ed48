import type { LeasedLane } from "../store/delivery-rows.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { EndpointDirectory } from "./endpoint-directory.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";
import type { MissingBodies } from "./missing-bodies.ts";
import type { StoredGates } from "./stored-gates.ts";

export interface ClaimLanesDeps {
  readonly directory: Pick<EndpointDirectory, "find">;
  readonly gates: Pick<StoredGates, "ensureKnown">;
  readonly lanes: Pick<LaneStore, "claim">;
  readonly deliveries: Pick<DeliveryStore, "deletePending">;
  readonly bodies: BodyBudget;
  readonly missingBodies: Pick<MissingBodies, "waitingOf">;
  readonly leaseMs: number;
}

/**
 * Claims lanes of an endpoint that are due, as far as its queue has capacity and there is room for
 * their bodies. Claims nothing for an endpoint that is disabled. Rejects when MongoDB cannot be used.
 *
 * @param take is given what was claimed, while its bodies are held
 * @returns whether more is due, whose bodies had no room
 */
export async function claimLanes(
  deps: ClaimLanesDeps,
  queue: EndpointQueue,
  dueBy: Date,
  take: (lanes: readonly LeasedLane[]) => void,
): Promise<boolean> {
  const { tenantId, endpointId } = queue;
  const endpoint = await deps.directory.find(endpointId);
  if (!endpoint?.enabled) {
    queue.noteDisabled();
    if (!endpoint) await deps.deliveries.deletePending(tenantId, endpointId);
    return false;
  }
  await deps.gates.ensureKnown(queue);
  const now = Date.now();
  queue.applySettings(endpoint, now);
  const claimable = queue.beginClaim(dueBy, now);
  if (!claimable) return false;
  using bodies = deps.bodies.hold();
  let count: number | undefined;
  let isCut = false;
  try {
    // A probe of a lane that cannot be sent would keep the others from being probed.
    const without = claimable.dueBy ? [] : deps.missingBodies.waitingOf(endpointId, now);
    const scope = { endpointId, without, ...claimable };
    const claimed = await deps.lanes.claim(scope, new Date(now + deps.leaseMs), (bearer) => {
      isCut = !bodies.take(bearer);
      return !isCut;
    });
    count = claimed.length;
    take(claimed);
  } finally {
    queue.endClaim(claimable, count);
  }
  return isCut;
}
