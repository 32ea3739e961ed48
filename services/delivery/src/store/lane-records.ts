import type { AttemptOutcome } from "../domain/delivery.ts";
import type { LaneStep } from "../domain/lane.ts";
import type { LeasedLane, SendableRow } from "./delivery-rows.ts";

/** An attempt to be journaled. */
export interface LaneRecord {
  /** The lane as it was attempted. */
  readonly before: LeasedLane;
  readonly step: LaneStep<SendableRow>;
  readonly outcome: AttemptOutcome;
  /** Of what was sent: that of a new signature, when the key of the one before was revoked. */
  readonly webhookId: string;
  /** Names the attempt; the same when the record is repeated. */
  readonly token: string;
  /** The end of the lease, if this process goes on with the lane; absent: the lease ends now. */
  readonly leaseUntil?: Date;
}

/** What only a bearer has. */
export const bearerFields = { nextAttemptAt: 1, lease: 1, yieldedTo: 1, isExpedited: 1, isFollowed: 1 } as const;
