import type { EndpointStore } from "../store/endpoint-store.ts";
import type { Lane } from "../domain/delivery.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { ResentRowStore } from "../store/resent-row-store.ts";
import type { Sender } from "../send/sender.ts";
import { deliveryIdsUpTo, planResends, type SignedAnew } from "./plan-resends.ts";

export interface SendAgainDeps {
  readonly endpoints: Pick<EndpointStore, "listOf">;
  readonly deliveries: Pick<DeliveryStore, "insert">;
  readonly lanes: Pick<LaneStore, "expedite" | "appointBearers">;
  readonly resentRows: Pick<ResentRowStore, "fates" | "endOutrun">;
  readonly sender: Pick<Sender, "wake">;
  /** Releases what is held for an endpoint that was enabled meanwhile. */
  readonly releaseIfEnabled: (endpoint: Pick<Lane, "tenantId" | "endpointId">) => Promise<void>;
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
  const held = planned.filter((_, index) => places[index] === "held");
  for (const endpoint of new Map(held.map((each) => [each.endpointId, each])).values()) {
    await deps.releaseIfEnabled(endpoint);
  }
  await deps.lanes.expedite(
    planned.filter((_, index) => places[index] === "behind"),
    now,
  );
  const outrun = await deps.resentRows.endOutrun(planned, now);
  await deps.lanes.appointBearers(outrun, now);
  deps.sender.wake();
  return planned.length - outrun.length;
}
