import type { LeasedLane } from "../store/delivery-rows.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { DeleteUndelivered } from "./delete-undelivered.ts";
import type { EndpointDirectory } from "./endpoint-directory.ts";
import type { EndpointQueue } from "./endpoint-queue.ts";
import type { FreshTenants } from "./fresh-tenants.ts";
import type { MissingBodies } from "./missing-bodies.ts";
import type { StoredGates } from "./stored-gates.ts";

interface ClaimLanesDeps {
  readonly directory: Pick<EndpointDirectory, "find">;
  readonly gates: Pick<StoredGates, "refresh">;
  readonly lanes: Pick<LaneStore, "claim">;
  readonly deleteUndelivered: DeleteUndelivered;
  readonly bodies: BodyBudget;
  readonly fresh: Pick<FreshTenants, "hasOthers">;
  readonly missingBodies: Pick<MissingBodies, "waitingOf">;
  readonly leaseMs: number;
}

/**
 * Most lanes of a claim while other tenants have just published. A claim of 256 delays their
 * webhooks at mongod by 30 ms.
 */
const givingWayMax = 32;

/**
 * Claims due lanes of an endpoint, or one lane for a due probe, as far as its queue has capacity
 * and their bodies fit into memory. Claims nothing for a disabled endpoint, and deletes the
 * undelivered rows of a deleted one. Rejects when MongoDB is unavailable.
 *
 * @param take is given the claimed lanes, while memory for their bodies is reserved
 * @returns whether more lanes are due whose bodies do not fit
 */
export async function claimLanes(
  deps: ClaimLanesDeps,
  queue: EndpointQueue,
  dueBy: Date,
  take: (lanes: readonly LeasedLane[]) => void,
): Promise<boolean> {
  const { endpointId } = queue;
  const endpoint = await deps.directory.find(endpointId);
  if (!endpoint?.enabled) {
    queue.noteDisabled();
    if (!endpoint) await deps.deleteUndelivered(queue);
    return false;
  }
  // The gate in memory may be outdated: until replicas know of each other, two of them may believe
  // that they are preferred for a tenant. And a replica that once took over an overdue lane may
  // still have the gate that it read then.
  await deps.gates.refresh(queue);
  const now = Date.now();
  queue.applySettings(endpoint, now);
  const most = deps.fresh.hasOthers(queue.tenantId) ? givingWayMax : undefined;
  const claimable = queue.beginClaim(dueBy, now, most);
  if (!claimable) return false;
  using bodies = deps.bodies.hold();
  let count: number | undefined;
  let isCut = false;
  try {
    // A claim for a probe leaves out lanes whose bodies are missing: such a lane could not be sent,
    // and would keep other lanes from being probed.
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
