import { createHash } from "node:crypto";
import { disabled, enabled } from "./change-endpoint.ts";
import { type Delivery, deliveryIdOf } from "./delivery.ts";
import type { DisableReason, Endpoint, ManagedEndpoint } from "./endpoint.ts";
import type { Postable } from "./payload.ts";

/** A change of an endpoint that is to be announced to the tenant's endpoints that ask for its event. */
export type EndpointNotice = DisabledNotice | RecoveredNotice;

interface DisabledNotice {
  readonly event: "endpoint.disabled";
  readonly reason: DisableReason;
  /** Who disabled it. */
  readonly by?: string;
  readonly at: Date;
  /** The beginning of the trouble. It names the change: one beginning, one webhook id. */
  readonly since: Date;
}

interface RecoveredNotice {
  readonly event: "endpoint.recovered";
  /** `enabled`: someone enabled it. `accepted`: its breaker was open, and it accepted a webhook. */
  readonly reason: "enabled" | "accepted";
  readonly at: Date;
  readonly since: Date;
}

/** The webhook of a notice, as its deliveries keep it. */
export interface NoticeBody {
  readonly event: EndpointNotice["event"];
  /** JSON. */
  readonly body: string;
}

/** The endpoint, disabled, with the notice of it; itself if it was. */
export function disabledWithNotice(
  endpoint: ManagedEndpoint,
  reason: DisableReason,
  at: Date,
  by?: string,
): ManagedEndpoint {
  const changed = disabled(endpoint, reason, at, by);
  if (changed === endpoint) return endpoint;
  const actor = by ? { by } : {};
  return withNotice(changed, { event: "endpoint.disabled", reason, at, since: at, ...actor });
}

/** The endpoint, enabled, with the notice of it; itself if it was. */
export function enabledWithNotice(endpoint: ManagedEndpoint, now: Date): ManagedEndpoint {
  const changed = enabled(endpoint);
  const since = endpoint.disabled?.at;
  if (changed === endpoint || !since) return changed;
  return withNotice(changed, { event: "endpoint.recovered", reason: "enabled", at: after(since, now), since });
}

/** The endpoint with the notice that it accepts webhooks again; itself if it has that notice. */
export function recoveredWithNotice(endpoint: ManagedEndpoint, since: Date, now: Date): ManagedEndpoint {
  const isKnown = endpoint.notices.some(
    (each) => each.event === "endpoint.recovered" && each.since.getTime() === since.getTime(),
  );
  if (isKnown) return endpoint;
  return withNotice(endpoint, { event: "endpoint.recovered", reason: "accepted", at: after(since, now), since });
}

/** The endpoint without those of its notices that another reading of it has. */
export function withoutNotices(endpoint: ManagedEndpoint, { notices }: ManagedEndpoint): ManagedEndpoint {
  const announced = new Set(notices.map((notice) => webhookIdOfNotice(endpoint, notice)));
  const left = endpoint.notices.filter((notice) => !announced.has(webhookIdOfNotice(endpoint, notice)));
  return left.length === endpoint.notices.length ? endpoint : { ...endpoint, notices: left };
}

function withNotice(endpoint: ManagedEndpoint, notice: EndpointNotice): ManagedEndpoint {
  return { ...endpoint, notices: [...endpoint.notices, notice] };
}

/** Clocks of replicas differ: the end of a trouble comes after its beginning. */
function after(since: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), since.getTime() + 1));
}

/**
 * Who gets a notice: the tenant's endpoints that ask for its event. An endpoint that was disabled
 * gets nothing, so it is not told that it was; what it is told of its recovery says since when it may
 * have missed webhooks.
 */
export function isToldOf(
  endpoint: ManagedEndpoint,
  about: Pick<Endpoint, "endpointId">,
  { event }: Pick<EndpointNotice, "event">,
): boolean {
  if (!endpoint.events.includes(event)) return false;
  return event === "endpoint.recovered" || endpoint.endpointId !== about.endpointId;
}

/** The delivery of a notice to an endpoint. Notices about one endpoint are a lane, in order of their times. */
export function noticeDelivery(about: Endpoint, notice: EndpointNotice, to: Endpoint, now: Date): Delivery {
  const webhookId = webhookIdOfNotice(about, notice);
  return {
    deliveryId: deliveryIdOf(to, webhookId),
    tenantId: to.tenantId,
    endpointId: to.endpointId,
    documentId: about.endpointId,
    sequence: notice.at.getTime(),
    signingNumber: 1,
    webhookId,
    createdAt: now,
    notice: { event: notice.event, body: JSON.stringify(contentOf(about, notice, webhookId)) },
  };
}

/** What is posted for a notice. It is signed by HMAC only, since it is no snapshot. */
export function noticePayload(
  { webhookId, createdAt }: Pick<Delivery, "webhookId" | "createdAt">,
  { event, body }: NoticeBody,
): Postable {
  return { webhookId, signingNumber: 1, event, committedAt: createdAt, body: Buffer.from(body) };
}

/** Like the id of a snapshot, with the beginning of the trouble in milliseconds since 1970. */
function webhookIdOfNotice({ tenantId, endpointId }: Endpoint, { event, since }: EndpointNotice): string {
  const name = createHash("sha256").update(`${tenantId}\n${endpointId}`).digest("hex").slice(0, 32);
  return `evt_${name}_${since.getTime()}_${event === "endpoint.disabled" ? "disabled" : "recovered"}`;
}

/** No URL: its path may be a credential, and this goes to another receiver. */
function contentOf({ tenantId, endpointId, url }: Endpoint, notice: EndpointNotice, id: string) {
  const { event: type, reason, at, since } = notice;
  const more = notice.event === "endpoint.disabled" ? { actor: notice.by ?? null } : { since: since.toISOString() };
  const data = { tenantId, endpointId, host: new URL(url).host, reason, ...more };
  return { id, type, timestamp: at.toISOString(), data };
}
