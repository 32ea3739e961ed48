import type { Collection } from "mongodb";
import { dueIndex } from "./delivery-indexes.ts";
import type { DeliveryRow } from "./rows.ts";

/**
 * An endpoint with pending deliveries, and when its next attempt is due or its first lease ends,
 * whichever is earlier.
 */
export interface EndpointDue {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly nextAttemptAt: Date;
}

/** An endpoint, and when its oldest undelivered row was stored. */
export interface Backlog {
  readonly endpointId: string;
  readonly oldestAt: Date;
}

/** For each endpoint the bearer with the earliest `nextAttemptAt`, whether that is past or not. */
const firstOfEach = [
  // With a bound on the endpoint, too, MongoDB reads one row for each endpoint; otherwise all rows.
  { $match: { endpointId: { $gt: "" }, nextAttemptAt: { $gt: new Date(0) } } },
  { $sort: { endpointId: 1, nextAttemptAt: 1 } },
  {
    $group: {
      _id: "$endpointId",
      tenantId: { $first: "$tenantId" },
      nextAttemptAt: { $first: "$nextAttemptAt" },
    },
  },
];

export async function readSchedule(rows: Collection<DeliveryRow>): Promise<EndpointDue[]> {
  const found = rows.aggregate<{ _id: string; tenantId: string; nextAttemptAt: Date }>(firstOfEach, { hint: dueIndex });
  return (await found.toArray()).map(({ _id: endpointId, tenantId, nextAttemptAt }) => {
    return { endpointId, tenantId, nextAttemptAt };
  });
}

/**
 * The hundred endpoints with the oldest undelivered rows, oldest first.
 *
 * @param without ids of endpoints to leave out
 */
export async function readBacklog(rows: Collection<DeliveryRow>, without: readonly string[]): Promise<Backlog[]> {
  const ofEndpoint = { tenantId: "$tenantId", endpointId: "$_id" };
  const isOf = [{ $eq: ["$tenantId", "$$tenantId"] }, { $eq: ["$endpointId", "$$endpointId"] }];
  const oldest = [
    { $match: { state: "pending", $expr: { $and: isOf } } },
    { $sort: { createdAt: 1, _id: 1 } },
    { $limit: 1 },
    { $project: { createdAt: 1 } },
  ];
  const found = rows.aggregate<{ _id: string; oldest: { createdAt: Date } }>(
    [
      // One row for each endpoint, as in `readSchedule`. The lookup then reads one entry of an
      // endpoint, the last, because the index of undelivered rows has the oldest last.
      ...firstOfEach,
      { $match: { _id: { $nin: [...without] } } },
      { $lookup: { from: rows.collectionName, let: ofEndpoint, pipeline: oldest, as: "oldest" } },
      { $unwind: "$oldest" },
      { $sort: { "oldest.createdAt": 1 } },
      { $limit: 100 },
    ],
    { hint: dueIndex },
  );
  return (await found.toArray()).map(({ _id, oldest: { createdAt } }) => ({ endpointId: _id, oldestAt: createdAt }));
}
