import type { EndpointStore } from "../store/endpoint-store.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { ResentRowStore } from "../store/resent-row-store.ts";
import type { Sender } from "../lanes/sender.ts";
import { deliveryIdsUpTo, planResends, type SignedAnew } from "./plan-resends.ts";

export interface SendAgainDeps {
  readonly endpoints: Pick<EndpointStore, "listOf">;
  readonly deliveries: Pick<DeliveryStore, "insert">;
  readonly lanes: Pick<LaneStore, "expedite" | "appointBearers">;
  readonly resentRows: Pick<ResentRowStore, "fates" | "endOutrun">;
  readonly sender: Pick<Sender, "wake">;
}

/**
 * Stores deliveries of snapshots of one tenant that were signed anew. They go through their lanes
 * like all others. Calling it again stores nothing twice.
 *
 * A snapshot that is not its document's newest one any more must not follow a newer one. A newer one
 * whose delivery is stored later than this one's stays behind it; what was outrun before that is
 * ended here and, should the process die between, before the attempt (`prepareAttempt`).
 *
 * @returns how many deliveries it stored
 */
export async function sendAgain(deps: SendAgainDeps, anew: readonly SignedAnew[]): Promise<number> {
  const now = new Date();
  const endpoints = await deps.endpoints.listOf([...new Set(anew.map(({ snapshot }) => snapshot.tenantId))]);
  const ids = anew.flatMap((each) => endpoints.flatMap((endpoint) => deliveryIdsUpTo(each, endpoint)));
  const fates = await deps.resentRows.fates(ids);
  const planned = anew.flatMap((each) => planResends(each, endpoints, fates, now));
  if (planned.length === 0) return 0;
  // None is leased to this process.
  const places = await deps.deliveries.insert(planned, now);
  await deps.lanes.expedite(
    planned.filter((_, index) => places[index] === "behind"),
    now,
  );
  const outrun = await deps.resentRows.endOutrun(planned, now);
  await deps.lanes.appointBearers(outrun, now);
  deps.sender.wake();
  return planned.length - outrun.length;
}
