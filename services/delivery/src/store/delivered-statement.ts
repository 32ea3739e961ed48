import type { AnyBulkWriteOperation, Document } from "mongodb";
import { attemptsMax, keptMs, toAttemptRow } from "./delivery-rows.ts";
import { bearerFields, type LaneRecord } from "./lane-records.ts";
import type { DeliveryRow } from "./rows.ts";

/**
 * Whether a record only says that the one row left of a lane was delivered, under the webhook id
 * that the row has. Most records do.
 */
export function isDelivered({ before, step, webhookId }: LaneRecord): boolean {
  const { attempted, ended, changed, next } = step;
  return (
    next === "empty" &&
    ended.length === 1 &&
    ended[0]?.state === "delivered" &&
    changed.length === 0 &&
    before.state.yieldedTo === undefined &&
    attempted.deliveryId === before.bearer.deliveryId &&
    attempted.webhookId === webhookId
  );
}

/**
 * One statement for records that pass `isDelivered` and have the same generation. In mongod 6.0 it
 * costs a third of what one statement for each record would cost. The update picks the values of
 * each row by the row's id.
 */
export function deliveredStatement(
  generation: number,
  records: readonly LaneRecord[],
): AnyBulkWriteOperation<DeliveryRow> {
  const ids = records.map(({ before }) => before.bearer.deliveryId);
  const attempts = records.map(({ outcome }) => toAttemptRow(outcome));
  const own = { $arrayElemAt: [{ $literal: attempts }, { $indexOfArray: [{ $literal: ids }, "$_id"] }] };
  const last = { $last: "$attempts" };
  const endedAt = { $let: { vars: { last }, in: { $add: ["$$last.at", "$$last.tookMs"] } } };
  const update: Document[] = [
    {
      $set: {
        attempts: { $slice: [{ $concatArrays: ["$attempts", [own]] }, -attemptsMax] },
        attemptCount: { $add: ["$attemptCount", 1] },
        generation: generation + 1,
        state: "delivered",
      },
    },
    { $set: { endedAt } },
    { $set: { expiresAt: { $add: ["$endedAt", keptMs] } } },
    { $unset: Object.keys(bearerFields) },
  ];
  return {
    updateMany: { filter: { _id: { $in: ids }, generation, isFollowed: { $exists: false } }, update },
  };
}
