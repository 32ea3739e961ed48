/**
 * Why an endpoint is disabled: someone asked for it, or it answered 410 twice, at least a minute
 * apart and without a 2xx in between.
 */
export type DisableReason = "operator" | "gone";

export interface Disablement {
  readonly at: Date;
  readonly reason: DisableReason;
  readonly by?: string;
  /** The time of the notice that the endpoint's deliveries will be given up; absent before it. */
  readonly expiryToldAt?: Date;
}
