import type { EndpointKey } from "../domain/endpoint-key.ts";
import { isToldOf, noticeDelivery, recoveredWithNotice, withoutNotices } from "../domain/endpoint-notice.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import { overtaken, unlessOvertaken } from "../domain/unless-overtaken.ts";
import type { NewDelivery } from "../store/delivery-rows.ts";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { LaneStore } from "../store/lane-store.ts";

interface AnnounceDeps {
  readonly endpoints: Pick<EndpointStore, "list" | "find" | "replace">;
  readonly deliveries: Pick<DeliveryStore, "insert">;
  readonly lanes: Pick<LaneStore, "expedite">;
  /** Wakes the search for due lanes in the database. */
  readonly wake: () => void;
}

/**
 * Stores a delivery of each of the endpoint's notices to each endpoint that is to be told of the
 * notice (`isToldOf`), then removes the notices. When a process dies in between, or two processes
 * announce the same notice, the deliveries have the same ids and are stored once.
 */
export async function announceNotices(deps: AnnounceDeps, about: ManagedEndpoint): Promise<void> {
  if (about.notices.length === 0) return;
  const now = new Date();
  const all = await deps.endpoints.list(about.tenantId);
  const planned = about.notices.flatMap((notice) =>
    all
      .filter((endpoint) => isToldOf(endpoint, about, notice))
      .map((to): NewDelivery => Object.assign(noticeDelivery(about, notice, to, now), { standing: "due" } as const)),
  );
  const standings = await deps.deliveries.insert(planned, now);
  const behind = planned.filter((_, index) => standings[index] === "behind");
  await deps.lanes.expedite(behind, now);
  if (planned.length > 0) deps.wake();
  await changeQuietly(deps, about, (endpoint) => withoutNotices(endpoint, about));
}

/**
 * Adds the notice that an endpoint whose breaker was open accepts webhooks again, and announces it.
 * Does nothing when no endpoint of the tenant asks for that event. Call this before the breaker's
 * state is deleted: when the process dies before the deletion, another process finds the breaker
 * open and adds the same notice.
 *
 * @param since when the breaker opened
 */
export async function announceRecovery(deps: AnnounceDeps, key: EndpointKey, since: Date): Promise<void> {
  const all = await deps.endpoints.list(key.tenantId);
  if (!all.some(({ events }) => events.includes("endpoint.recovered"))) return;
  const noted = await changeQuietly(deps, key, (endpoint) => recoveredWithNotice(endpoint, since, new Date()));
  if (noted) await announceNotices(deps, noted);
}

/**
 * Stores a change of an endpoint's notices. `updatedAt` stays, because no setting changes.
 *
 * @returns the endpoint after the change; undefined when it was deleted, or when its secret or
 * headers cannot be decrypted
 */
async function changeQuietly(
  { endpoints }: Pick<AnnounceDeps, "endpoints">,
  { tenantId, endpointId }: EndpointKey,
  change: (endpoint: ManagedEndpoint) => ManagedEndpoint,
): Promise<ManagedEndpoint | undefined> {
  return unlessOvertaken(async () => {
    const read = await endpoints.find(tenantId, endpointId);
    if (!read || read.unopened !== undefined) return undefined;
    const changed = change(read);
    return changed === read || (await endpoints.replace(changed)) ? changed : overtaken;
  });
}
