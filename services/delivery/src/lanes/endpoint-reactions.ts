import { untilDone } from "@vidimus/kit/service/until-done";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { announceNotices, announceRecovery } from "../announce/announce-notices.ts";
import type { EndpointKey } from "../domain/endpoint-key.ts";
import { disabledWithNotice, expiringWithNotice } from "../domain/endpoint-notice.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import type { Stores } from "../store/open-stores.ts";
import type { EndpointDirectory } from "./endpoint-directory.ts";

interface ReactionDeps extends Pick<Stores, "deliveries" | "endpoints" | "lanes"> {
  readonly directory: Pick<EndpointDirectory, "forget">;
  /** Wakes the search for due lanes in the database. */
  readonly wake: () => void;
  readonly log: Logger;
}

/** Disables endpoints that answer 410; announces changed endpoints to the tenant's endpoints. */
export type EndpointReactions = ReturnType<typeof createReactions>;

const announceRetryMs = 1_000;

/** @param signal ends the repetitions of failed announcements */
export function createReactions(deps: ReactionDeps, signal: AbortSignal) {
  const { deliveries, endpoints, lanes, directory, wake, log } = deps;
  const announcing = { endpoints, deliveries, lanes, wake };
  const repeated = async (endpointId: string, work: () => Promise<void>) => {
    const onFailure = (error: unknown) =>
      log.warn({ err: error, endpointId }, "a change of an endpoint waits to be announced");
    const isDone = () => work().then(() => true);
    if (!(await untilDone(isDone, { signal, retryMs: announceRetryMs, onFailure }))) throw signal.reason;
  };
  const announce = (endpoint: ManagedEndpoint) => {
    // When this process stops before the notices are announced, another process finds them.
    repeated(endpoint.endpointId, () => announceNotices(announcing, endpoint)).catch(() => {});
  };
  /**
   * Disables an endpoint that answered 410 twice. @returns false when it is still enabled, because
   * somebody else changed it meanwhile: a later 410 disables it
   */
  const disableGone = async ({ tenantId, endpointId }: EndpointKey) => {
    const found = await endpoints.find(tenantId, endpointId);
    const changed = found && disabledWithNotice(found, "gone", new Date());
    const isStored = changed !== undefined && changed !== found && (await endpoints.replace(changed));
    directory.forget(endpointId);
    if (isStored) announce(changed);
    return isStored || !(await endpoints.find(tenantId, endpointId))?.enabled;
  };
  /**
   * When the deliveries of a disabled endpoint will be given up in a day, announces that to the
   * tenant's other endpoints, once for each disabling.
   */
  const announceExpiry = async (endpoint: ManagedEndpoint, now: Date) => {
    const changed = expiringWithNotice(endpoint, now);
    // When somebody else changes the endpoint meanwhile, the next check announces the expiry.
    if (changed !== endpoint && (await endpoints.replace(changed))) announce(changed);
  };
  /** Announces that an endpoint's breaker, which opened at `since`, has closed. */
  const announceClosed = (endpoint: EndpointKey, since: Date) =>
    repeated(endpoint.endpointId, () => announceRecovery(announcing, endpoint, since));
  return { announce, announceClosed, announceExpiry, disableGone };
}
