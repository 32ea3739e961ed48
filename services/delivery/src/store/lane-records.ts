import type { AttemptOutcome } from "../domain/delivery.ts";
import type { LaneStep } from "../domain/advance-lane.ts";
import type { LeasedLane, SendableRow } from "./delivery-rows.ts";

export interface LaneRecord {
  /** The lane before the attempt's outcome. */
  readonly before: LeasedLane;
  readonly step: LaneStep<SendableRow>;
  readonly outcome: AttemptOutcome;
  /**
   * The id under which the webhook was sent. It differs from the row's when the snapshot was signed
   * again since the row was stored or last attempted.
   */
  readonly webhookId: string;
  /** Id of the attempt, the same when the record is repeated. */
  readonly token: string;
  /** The end of the lease when this process continues with the lane; absent to end the lease. */
  readonly leaseUntil?: Date;
}

/** Fields to remove from a row that is no bearer any more. */
export const bearerFields = { nextAttemptAt: 1, lease: 1, yieldedTo: 1, isExpedited: 1, isFollowed: 1 } as const;
