import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
import { announceNotices, announceRecovery } from "../announce/announce-notices.ts";
import type { Lane } from "../domain/delivery.ts";
import { disabledWithNotice, expiringWithNotice } from "../domain/endpoint-notice.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import type { Stores } from "../store/open-stores.ts";
import type { EndpointDirectory } from "./endpoint-directory.ts";

export type EndpointName = Pick<Lane, "tenantId" | "endpointId">;

interface ReactionDeps extends Pick<Stores, "deliveries" | "endpoints" | "lanes"> {
  readonly directory: Pick<EndpointDirectory, "forget">;
  /** Looks for due lanes in the database. */
  readonly wake: () => void;
  readonly log: Logger;
}

/** What follows for deliveries, and for other endpoints, when an endpoint changes. */
export type EndpointReactions = ReturnType<typeof createReactions>;

const announceRetryMs = 1_000;

/** @param signal ends what is repeated */
export function createReactions(deps: ReactionDeps, signal: AbortSignal) {
  const { deliveries, endpoints, lanes, directory, wake, log } = deps;
  const announcing = { endpoints, deliveries, lanes, wake };
  const untilDone = async (endpointId: string, work: () => Promise<void>) => {
    for (;;) {
      signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        log.warn({ err: error, endpointId }, "a change of an endpoint waits to be announced");
        await pause(announceRetryMs, undefined, { signal });
      }
    }
  };
  /** Tells the endpoints that ask for it what was changed, soon. */
  const announce = (endpoint: ManagedEndpoint) => {
    // When this process stops, the next one finds the change unannounced.
    untilDone(endpoint.endpointId, () => announceNotices(announcing, endpoint)).catch(() => {});
  };
  /** Disables an endpoint that answered 410 twice. */
  const disableGone = async ({ tenantId, endpointId }: EndpointName) => {
    const found = await endpoints.find(tenantId, endpointId);
    const changed = found && disabledWithNotice(found, "gone", new Date());
    // When others change it meanwhile, the next 410 comes.
    const isStored = changed !== undefined && changed !== found && (await endpoints.replace(changed));
    directory.forget(endpointId);
    if (isStored) announce(changed);
  };
  /** Tells the others that what is owed to a disabled endpoint ends soon, once. */
  const announceExpiry = async (endpoint: ManagedEndpoint, now: Date) => {
    const changed = expiringWithNotice(endpoint, now);
    // When others change it meanwhile, the next look finds it.
    if (changed !== endpoint && (await endpoints.replace(changed))) announce(changed);
  };
  /** Tells the endpoints that ask for it that the breaker of this one, open since then, has closed. */
  const announceClosed = (endpoint: EndpointName, since: Date) =>
    untilDone(endpoint.endpointId, () => announceRecovery(announcing, endpoint, since));
  return { announce, announceClosed, announceExpiry, disableGone };
}
