import type { Db } from "mongodb";
import type { DeliveryRow, EndpointRow, SnapshotRow } from "./rows.ts";

/** Makes the indexes the stores rely on; harmless when they are there. */
export async function ensureIndexes(db: Db): Promise<void> {
  await db.collection<EndpointRow>("endpoints").createIndexes([{ key: { tenantId: 1, _id: 1 } }]);
  await db
    .collection<SnapshotRow>("snapshots")
    .createIndexes([{ key: { tenantId: 1, documentId: 1, sequence: 1 }, unique: true }]);
  await db.collection<DeliveryRow>("deliveries").createIndexes([
    { key: { tenantId: 1, endpointId: 1, documentId: 1, sequence: 1 }, unique: true },
    // One attempt in flight a lane, whatever processes think.
    {
      name: "lane_lease",
      key: { tenantId: 1, endpointId: 1, documentId: 1 },
      unique: true,
      partialFilterExpression: { lease: { $exists: true } },
    },
    // Both hold pending rows only, so that their size follows the backlog and not the history.
    {
      name: "due",
      key: { state: 1, endpointId: 1, nextAttemptAt: 1 },
      partialFilterExpression: { state: "pending" },
    },
    {
      name: "lane_head",
      key: { state: 1, endpointId: 1, documentId: 1, sequence: 1 },
      partialFilterExpression: { state: "pending" },
    },
  ]);
}
