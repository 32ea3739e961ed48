import type { DisableReason } from "./disablement.ts";

/** What is announced of an endpoint, to the endpoints of its tenant that ask for the event. */
export type EndpointNotice = DisabledNotice | ExpiringNotice | RecoveredNotice;

interface NoticeTimes {
  readonly at: Date;
  /**
   * The beginning of the trouble. It is part of the webhook id, so the same trouble is announced
   * once.
   */
  readonly since: Date;
}

interface DisabledNotice extends NoticeTimes {
  readonly event: "endpoint.disabled";
  readonly reason: DisableReason;
  /** The actor who disabled it; absent when 410s did. */
  readonly by?: string;
}

/** The endpoint is disabled, and in a day its pending deliveries will be given up. */
interface ExpiringNotice extends NoticeTimes {
  readonly event: "endpoint.expiring";
  readonly reason: DisableReason;
}

interface RecoveredNotice extends NoticeTimes {
  readonly event: "endpoint.recovered";
  /** `enabled`: someone enabled it. `accepted`: its breaker was open, and it accepted a webhook. */
  readonly reason: "enabled" | "accepted";
}

/** A notice as its deliveries keep it, without the URL, whose path may be a credential. */
export type NoticeFacts = EndpointNotice & { readonly host: string };
