import type { Logger } from "@vidimus/kit/telemetry/log";
import { setTimeout as pause } from "node:timers/promises";
import type { DeliveryStore } from "../store/delivery-store.ts";
import type { EndpointKey } from "../domain/endpoint-key.ts";

interface DeleteUndeliveredDeps {
  readonly deliveries: Pick<DeliveryStore, "deletePending">;
  readonly log: Logger;
}

/**
 * Deletes the undelivered rows of a deleted endpoint. Resolves when a first batch is deleted; the
 * others follow in the background. Resolves at once while rows of the endpoint are being deleted.
 */
export type DeleteUndelivered = (endpoint: EndpointKey) => Promise<void>;

/**
 * Deletes in batches, because a backlog of 20,000 rows takes more than the ten seconds that a
 * caller waits. Each batch is followed by a rest of its own duration, in which mongod serves
 * others.
 *
 * @param signal ends the deletion. Remaining rows are deleted when the next lane of the endpoint is
 * due
 */
export function createDeleteUndelivered(
  { deliveries, log }: DeleteUndeliveredDeps,
  signal: AbortSignal,
): DeleteUndelivered {
  const underway = new Set<string>();
  const batch = async ({ tenantId, endpointId }: EndpointKey) => {
    const startedAt = performance.now();
    const hasMore = await deliveries.deletePending(tenantId, endpointId);
    return { hasMore, tookMs: performance.now() - startedAt };
  };
  const deleteRest = async (endpoint: EndpointKey, firstMs: number) => {
    let last = { hasMore: true, tookMs: firstMs };
    while (last.hasMore) {
      await pause(last.tookMs, undefined, { signal });
      last = await batch(endpoint);
    }
  };
  return async (endpoint) => {
    const { endpointId } = endpoint;
    if (underway.has(endpointId)) return;
    underway.add(endpointId);
    const end = () => underway.delete(endpointId);
    const { hasMore, tookMs } = await batch(endpoint).catch((error: unknown) => {
      end();
      throw error;
    });
    if (!hasMore) return void end();
    deleteRest(endpoint, tookMs)
      .catch((error: unknown) => {
        if (!signal.aborted)
          log.warn({ err: error, endpointId }, "deliveries of a deleted endpoint are left for later");
      })
      .finally(end);
  };
}
