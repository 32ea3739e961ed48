import { repeat } from "@vidimus/kit/service/repeat";
import type { Logger } from "@vidimus/kit/telemetry/log";
import { expiryOf } from "../domain/endpoint-notice.ts";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { LaneEndings } from "../store/lane-endings.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import type { EndpointReactions } from "./endpoint-reactions.ts";

interface EndOldDeps {
  readonly lanes: Pick<LaneStore, "schedule">;
  readonly laneEndings: Pick<LaneEndings, "exhaust">;
  readonly endpoints: Pick<EndpointStore, "findMany" | "recheckUnopened">;
  readonly metrics: Pick<DeliveryMetrics, "noteGivenUp">;
  readonly announceExpiry: EndpointReactions["announceExpiry"];
  readonly isPreferredFor: (tenantId: string) => boolean;
  /** The age at which deliveries to an enabled endpoint are given up. */
  readonly ageMsMax: number;
  /** Interval of the search for deliveries whose time is over. */
  readonly endOldMs: number;
  readonly log: Logger;
}

/**
 * Gives up deliveries whose time is over, until the returned value is disposed: those to an enabled
 * endpoint at `ageMsMax` (counted from its last enabling if that is later); those to a disabled
 * endpoint a day after its `endpoint.expiring` notice, so after 30 days at the earliest. An attempt
 * gives up only rows of its own lane, and while a breaker is open only probes are sent, so without
 * this search most rows of such an endpoint would wait far longer.
 */
export function startEndingOld(deps: EndOldDeps): AsyncDisposable {
  return repeat((signal) => endOld(deps, signal), {
    everyMs: deps.endOldMs,
    pausesFirst: true,
    onFailure: (error) => deps.log.warn({ err: error }, "old deliveries are not given up"),
  });
}

const endpointsMax = 256;

async function endOld(deps: EndOldDeps, signal: AbortSignal): Promise<void> {
  await deps.endpoints.recheckUnopened();
  const scheduled = await deps.lanes.schedule();
  const ids = scheduled.flatMap((each) => (deps.isPreferredFor(each.tenantId) ? each.endpointId : []));
  for (let at = 0; at < ids.length; at += endpointsMax) {
    for (const endpoint of await deps.endpoints.findMany(ids.slice(at, at + endpointsMax))) {
      if (signal.aborted) return;
      // An endpoint whose secret or headers cannot be decrypted cannot be stored with a notice. Its
      // deliveries wait until it is repaired, whatever their age.
      if (endpoint.unopened !== undefined) continue;
      const now = new Date();
      await deps.announceExpiry(endpoint, now);
      const storedBefore = endOf(endpoint, deps.ageMsMax, now);
      if (storedBefore) await exhaust(deps, endpoint, storedBefore, now, signal);
    }
  }
}

/** Deliveries that were stored before this time are given up; undefined for none. */
function endOf({ disabled, enabledAt }: ManagedEndpoint, ageMsMax: number, now: Date): Date | undefined {
  if (disabled) return disabled.expiryToldAt && now >= expiryOf(disabled.expiryToldAt) ? now : undefined;
  const storedBefore = new Date(now.getTime() - ageMsMax);
  return enabledAt && enabledAt > storedBefore ? undefined : storedBefore;
}

async function exhaust(
  { laneEndings, metrics, log }: EndOldDeps,
  endpoint: ManagedEndpoint,
  storedBefore: Date,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  let count = 0;
  for await (const { lanes, rows } of laneEndings.exhaust(endpoint, storedBefore, now)) {
    metrics.noteGivenUp(rows);
    count += lanes;
    if (signal.aborted) break;
  }
  const { endpointId, tenantId: tenant } = endpoint;
  if (count > 0) log.warn({ endpointId, tenant, documents: count }, "deliveries are given up: they are too old");
}
