import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
import { disabledMsMax, type ManagedEndpoint } from "../domain/endpoint.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { LaneEndings } from "../store/lane-endings.ts";
import type { LaneStore } from "../store/lane-store.ts";
import type { EndpointReactions } from "./endpoint-reactions.ts";

export interface EndOldDeps {
  readonly lanes: Pick<LaneStore, "schedule">;
  readonly laneEndings: Pick<LaneEndings, "exhaust">;
  readonly endpoints: Pick<EndpointStore, "findMany">;
  readonly announceExpiry: EndpointReactions["announceExpiry"];
  /** Whether this replica is preferred for a tenant. */
  readonly isPreferredFor: (tenantId: string) => boolean;
  /** The age at which a delivery to an enabled endpoint is given up. */
  readonly ageMsMax: number;
  /** Between two looks. */
  readonly endOldMs: number;
  readonly log: Logger;
}

/**
 * Gives deliveries up whose time is over, until it is disposed: those to an enabled endpoint at
 * `ageMsMax`, counted from when it was last enabled if they are older than that; those to a disabled
 * one when it has been disabled for 30 days, of which the tenant's other endpoints are told a day
 * before. Attempts give up their own row; the others would wait for ever while only probes go out.
 */
export function startEndingOld(deps: EndOldDeps): AsyncDisposable {
  const stop = new AbortController();
  const loop = async () => {
    for (;;) {
      await pause(deps.endOldMs, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return;
      await endOld(deps, stop.signal).catch((error: unknown) => {
        deps.log.warn({ err: error }, "old deliveries are not given up");
      });
    }
  };
  const looping = loop();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await looping;
    },
  };
}

/** Most endpoints that are read at once. */
const endpointsMax = 256;

/** One look at all endpoints of this replica that have anything pending. */
export async function endOld(deps: EndOldDeps, signal: AbortSignal): Promise<void> {
  const scheduled = await deps.lanes.schedule();
  const ids = scheduled.flatMap((each) => (deps.isPreferredFor(each.tenantId) ? each.endpointId : []));
  for (let at = 0; at < ids.length; at += endpointsMax) {
    for (const endpoint of await deps.endpoints.findMany(ids.slice(at, at + endpointsMax))) {
      if (signal.aborted) return;
      // It may be mended, whatever becomes of its age; nothing of it can be stored until then.
      if (endpoint.unopened !== undefined) continue;
      const now = new Date();
      await deps.announceExpiry(endpoint, now);
      const storedBefore = endOf(endpoint, deps.ageMsMax, now);
      if (storedBefore) await exhaust(deps, endpoint, storedBefore, now, signal);
    }
  }
}

/** Up to when deliveries were stored that are given up now; undefined when none are. */
function endOf({ disabled, enabledAt }: ManagedEndpoint, ageMsMax: number, now: Date): Date | undefined {
  if (disabled) return now.getTime() - disabled.at.getTime() >= disabledMsMax ? now : undefined;
  const storedBefore = new Date(now.getTime() - ageMsMax);
  return enabledAt && enabledAt > storedBefore ? undefined : storedBefore;
}

async function exhaust(
  { laneEndings, log }: EndOldDeps,
  endpoint: ManagedEndpoint,
  storedBefore: Date,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  let [from, count]: [Date | undefined, number] = [undefined, 0];
  while (!signal.aborted) {
    const { ended, next } = await laneEndings.exhaust(endpoint, { storedBefore, from }, now);
    count += ended;
    // The same place again with nothing ended: what is left there is under leases.
    if (!next || (ended === 0 && next.getTime() === from?.getTime())) break;
    from = next;
  }
  const { endpointId, tenantId: tenant } = endpoint;
  if (count > 0) log.warn({ endpointId, tenant, documents: count }, "deliveries are given up: they are too old");
}
