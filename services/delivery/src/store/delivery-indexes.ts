import type { CollectionIndexes } from "@vidimus/kit/mongo/indexes";
import type { Collection, Db, Filter } from "mongodb";
import type { Lane } from "../domain/delivery.ts";
import type { DeliveryRow } from "./rows.ts";

export function deliveryRows(db: Db): Collection<DeliveryRow> {
  return db.collection("deliveries");
}

/** Names of indexes that queries give as a hint. */
export const laneIndex = "lane";
export const dueIndex = "schedule";
export const pendingIndex = "pending_by_time";

/**
 * Indexes of `deliveries`, beside `logIndexes` and `countIndexes`. The first four contain only
 * undelivered rows, so that their size follows the backlog and not the history.
 */
export const deliveryIndexes = {
  // Unique, so that a lane never has two bearers: a newer row cannot be sent beside an older one.
  bearer: {
    key: { tenantId: 1, documentId: 1, endpointId: 1 },
    unique: true,
    partialFilterExpression: { nextAttemptAt: { $exists: true } },
  },
  [dueIndex]: {
    // Includes the tenant, so that the schedule is read from the index alone.
    key: { endpointId: 1, nextAttemptAt: 1, tenantId: 1 },
    partialFilterExpression: { nextAttemptAt: { $exists: true } },
  },
  [laneIndex]: {
    key: { tenantId: 1, documentId: 1, endpointId: 1, sequence: 1 },
    partialFilterExpression: { state: "pending" },
  },
  [pendingIndex]: {
    // Includes the state, although it is the same in all entries: MongoDB reads the row for a
    // filtered column that the index lacks.
    key: { tenantId: 1, endpointId: 1, state: 1, createdAt: -1, _id: -1 },
    partialFilterExpression: { state: "pending" },
  },
  expiry: { key: { expiresAt: 1 }, expireAfterSeconds: 0, sparse: true },
} as const satisfies CollectionIndexes;

export function laneFilter({ tenantId, documentId, endpointId }: Lane): Filter<DeliveryRow> {
  return { tenantId, documentId, endpointId };
}
