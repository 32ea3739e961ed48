import type { EndpointNotice } from "./endpoint-notice.ts";

/** The events that endpoints may ask for. */
export const endpointEvents = [
  "snapshot.usable",
  "snapshot.withheld",
  "endpoint.disabled",
  "endpoint.expiring",
  "endpoint.recovered",
] as const;

/** What a webhook is about. */
export type EndpointEvent = (typeof endpointEvents)[number];

/** What an endpoint gets unless it asks for more or less. */
export const eventsByDefault: readonly EndpointEvent[] = ["snapshot.usable", "snapshot.withheld"];

/** Attempts in flight at an endpoint, unless it asks for more or fewer. */
export const maxInFlightByDefault = 32;

/** A receiver of a tenant's webhooks, as sending sees it. */
export interface Endpoint {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly url: string;
  readonly createdAt: Date;
  /** One, or two while a secret rotates; newest first. Decoded. */
  readonly secrets: readonly [Uint8Array, ...Uint8Array[]];
  /** While it is disabled, nothing is sent to it. */
  readonly enabled: boolean;
  /** Why what it keeps secret cannot be opened. It is not enabled then, and has no headers. */
  readonly unopened?: string;
  /** When it was last enabled; absent when it never was disabled. Deliveries are no older than that. */
  readonly enabledAt?: Date;
  readonly events: readonly EndpointEvent[];
  /** Absent: all types. */
  readonly documentTypes?: readonly string[];
  /** Sent with every webhook, by their lowercase names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Most attempts in flight, 1 to 128. */
  readonly maxInFlight: number;
  /** Most attempts a second; absent: no limit. */
  readonly ratePerSecond?: number;
}

/** Why an endpoint is disabled: someone asked for it, or it answered 410 twice. */
export type DisableReason = "operator" | "gone";

/** Since when and why an endpoint is disabled, and who asked for it. */
export interface Disablement {
  readonly at: Date;
  readonly reason: DisableReason;
  readonly by?: string;
  /** Present once others were told that its deliveries end soon. */
  readonly isExpiryTold?: true;
}

/** How long an endpoint may be disabled until its deliveries are given up. */
export const disabledMsMax = 30 * 24 * 60 * 60 * 1000;
/** How long before that the tenant's other endpoints are told. */
export const expiryNoticeMs = 24 * 60 * 60 * 1000;

/** An endpoint as management sees it. */
export interface ManagedEndpoint extends Endpoint {
  readonly updatedAt: Date;
  /** For people; "": the host of its URL. */
  readonly name: string;
  /** For people. */
  readonly description: string;
  /** Present while it is disabled. */
  readonly disabled?: Disablement;
  /** When the older of two secrets ends. */
  readonly previousSecretEndsAt?: Date;
  /** Changes that are not announced yet. They are stored with the change, so that none is lost. */
  readonly notices: readonly EndpointNotice[];
  /** Grows with every change. A change names the revision that it read. */
  readonly revision: number;
}

/** Most endpoints of a tenant. */
export const endpointsMax = 100;
