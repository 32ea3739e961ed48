import type { Collection } from "mongodb";
import type { HeldBacklog } from "../domain/endpoint-health.ts";
import { pendingIndex } from "./delivery-indexes.ts";
import type { DeliveryRow } from "./rows.ts";

/** Most deliveries that are counted, because an RPC that shows endpoints waits for the count. */
const countMax = 10_000;

/**
 * The count and the search for the oldest read nothing but the index of pending rows, so final
 * deliveries, however many, do not slow them.
 */
export async function heldDeliveries(
  rows: Collection<DeliveryRow>,
  tenantId: string,
  endpointId: string,
  options: { readonly maxTimeMS: number; readonly signal?: AbortSignal },
): Promise<HeldBacklog> {
  const filter = { tenantId, endpointId, state: "pending" as const };
  const search = { ...options, hint: pendingIndex };
  const [found, [oldest]] = await Promise.all([
    rows.countDocuments(filter, { ...search, limit: countMax + 1 }),
    rows
      .find(filter, { ...search, projection: { createdAt: 1 } })
      .sort({ createdAt: 1, _id: 1 })
      .limit(1)
      .toArray(),
  ]);
  const count = Math.min(found, countMax);
  return { count, hasMore: found > countMax, ...(oldest ? { oldestAt: oldest.createdAt } : {}) };
}
