import type { EndpointStore } from "../store/endpoint-store.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { ResentRowStore } from "../store/resent-row-store.ts";
import type { Sender } from "../lanes/sender.ts";
import { deliveryIdsUpTo, planResends, type SignedAnew } from "./plan-resends.ts";

interface SendAgainDeps {
  readonly endpoints: Pick<EndpointStore, "listOf">;
  readonly deliveries: Pick<DeliveryStore, "insert">;
  readonly lanes: Pick<LaneStore, "expedite" | "appointBearers">;
  readonly resentRows: Pick<ResentRowStore, "fates" | "endOutrun">;
  readonly sender: Pick<Sender, "wake">;
}

/**
 * Stores deliveries of one tenant's snapshots that were signed again, and makes their lanes due. A
 * repeated call stores nothing twice.
 *
 * A snapshot must not be sent after a newer one of its document. So a stored delivery is ended at
 * once when its lane has a newer snapshot; if the process dies before that, `prepareAttempt` ends
 * the delivery. A newer snapshot that is stored later waits behind the delivery.
 *
 * @returns how many deliveries were stored and are left to be sent
 */
export async function sendAgain(deps: SendAgainDeps, anew: readonly SignedAnew[]): Promise<number> {
  const now = new Date();
  const endpoints = await deps.endpoints.listOf([...new Set(anew.map(({ snapshot }) => snapshot.tenantId))]);
  const ids = anew.flatMap((each) => endpoints.flatMap((endpoint) => deliveryIdsUpTo(each, endpoint)));
  const fates = await deps.resentRows.fates(ids);
  const planned = anew.flatMap((each) => planResends(each, endpoints, fates, now));
  if (planned.length === 0) return 0;
  // The second argument, the end of the leases, is not used: none of these rows is stored with a
  // lease.
  const standings = await deps.deliveries.insert(planned, now);
  await deps.lanes.expedite(
    planned.filter((_, index) => standings[index] === "behind"),
    now,
  );
  const outrun = await deps.resentRows.endOutrun(planned, now);
  await deps.lanes.appointBearers(outrun, now);
  deps.sender.wake();
  return planned.length - outrun.length;
}
