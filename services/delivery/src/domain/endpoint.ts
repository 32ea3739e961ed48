import type { Disablement } from "./disablement.ts";
import type { EndpointNotice } from "./notice.ts";

export const endpointEvents = [
  "snapshot.usable",
  "snapshot.withheld",
  "endpoint.disabled",
  "endpoint.expiring",
  "endpoint.recovered",
] as const;

export type EndpointEvent = (typeof endpointEvents)[number];

/** The events of an endpoint that names none. */
export const eventsByDefault: readonly EndpointEvent[] = ["snapshot.usable", "snapshot.withheld"];

export const maxInFlightByDefault = 32;

/** A receiver of a tenant's webhooks, with what sending needs. */
export interface Endpoint {
  readonly endpointId: string;
  readonly tenantId: string;
  readonly url: string;
  readonly createdAt: Date;
  /** Decoded; two while a secret rotates, newest first. */
  readonly secrets: readonly [Uint8Array, ...Uint8Array[]];
  /**
   * While an endpoint is disabled, its deliveries wait. Only pings and redeliveries of final
   * deliveries are sent to it.
   */
  readonly enabled: boolean;
  /**
   * Why the secret or the headers cannot be decrypted. The endpoint then counts as disabled and has
   * no headers.
   */
  readonly unopened?: string;
  /**
   * When it was last enabled after a disablement; absent when it never was. The age of deliveries
   * counts from here at the earliest.
   */
  readonly enabledAt?: Date;
  readonly events: readonly EndpointEvent[];
  /** Absent for all types. */
  readonly documentTypes?: readonly string[];
  /** Sent with every webhook; lowercase names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Most attempts in flight, 1 to 128. */
  readonly maxInFlight: number;
  /** Most attempts a second; absent for no limit. */
  readonly ratePerSecond?: number;
}

/** A disabled endpoint's deliveries are given up after this time at the earliest. */
export const disabledMsMax = 30 * 24 * 60 * 60 * 1000;
/**
 * The tenant's other endpoints that ask for `endpoint.expiring` get it this long before a disabled
 * endpoint's deliveries are given up.
 */
export const expiryNoticeMs = 24 * 60 * 60 * 1000;

export interface ManagedEndpoint extends Endpoint {
  readonly updatedAt: Date;
  /** Name for people; "" to show the host of its URL. */
  readonly name: string;
  readonly description: string;
  /**
   * Present while the endpoint is disabled by somebody or because of 410s; `unopened` alone does
   * not set it.
   */
  readonly disabled?: Disablement;
  /** When the older of two secrets ends. */
  readonly previousSecretEndsAt?: Date;
  /**
   * Notices that are not announced yet. A change and its notice are stored in the same write, so
   * that no notice is lost.
   */
  readonly notices: readonly EndpointNotice[];
  /** Raised by every change. A change must name the revision that it read. */
  readonly revision: number;
}

/** Most endpoints of a tenant. */
export const endpointsMax = 100;
