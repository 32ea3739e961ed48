/** Why an endpoint is disabled: someone asked for it, or it answered 410 twice. */
export type DisableReason = "operator" | "gone";

export interface Disablement {
  readonly at: Date;
  readonly reason: DisableReason;
  readonly by?: string;
  /** Set once the notice that its deliveries will be given up was added. */
  readonly isExpiryTold?: true;
}
