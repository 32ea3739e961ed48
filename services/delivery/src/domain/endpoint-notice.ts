import { createHash } from "node:crypto";
import { disabled, enabled } from "./change-endpoint.ts";
import { type Delivery, deliveryIdOf } from "./delivery.ts";
import type { EndpointKey } from "./endpoint-key.ts";
import type { DisableReason } from "./disablement.ts";
import { disabledMsMax, type Endpoint, expiryNoticeMs, type ManagedEndpoint } from "./endpoint.ts";
import type { EndpointNotice, NoticeFacts } from "./notice.ts";
import type { Postable } from "./payload.ts";

/**
 * The endpoint, disabled, with a notice of the change; the same object if it was disabled already.
 */
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

/**
 * The endpoint, enabled, with a notice of the change if the time of its disabling is known; the
 * same object if it was enabled already.
 */
export function enabledWithNotice(endpoint: ManagedEndpoint, now: Date): ManagedEndpoint {
  const changed = enabled(endpoint, now);
  const since = endpoint.disabled?.at;
  if (changed === endpoint || !since) return changed;
  return withNotice(changed, { event: "endpoint.recovered", reason: "enabled", at: after(since, now), since });
}

/**
 * The endpoint with the notice that it accepts webhooks again; the same object if it has that
 * notice.
 */
export function recoveredWithNotice(endpoint: ManagedEndpoint, since: Date, now: Date): ManagedEndpoint {
  const isKnown = endpoint.notices.some(
    (each) => each.event === "endpoint.recovered" && each.since.getTime() === since.getTime(),
  );
  if (isKnown) return endpoint;
  return withNotice(endpoint, { event: "endpoint.recovered", reason: "accepted", at: after(since, now), since });
}

/**
 * The endpoint with the notice that its deliveries will be given up soon; the same object if it had
 * that notice or is not due for it.
 */
export function expiringWithNotice(endpoint: ManagedEndpoint, now: Date): ManagedEndpoint {
  const { disabled } = endpoint;
  if (!disabled || disabled.expiryToldAt) return endpoint;
  if (now.getTime() < disabled.at.getTime() + disabledMsMax - expiryNoticeMs) return endpoint;
  const { at: since, reason } = disabled;
  const at = after(since, now);
  const told = { ...endpoint, disabled: { ...disabled, expiryToldAt: at } };
  return withNotice(told, { event: "endpoint.expiring", reason, at, since });
}

/** When the deliveries of a disabled endpoint are given up: a day after the notice at `toldAt`. */
export function expiryOf(toldAt: Date): Date {
  return new Date(toldAt.getTime() + expiryNoticeMs);
}

/** Removes the notices of an earlier read of the endpoint, which were announced since. */
export function withoutNotices(endpoint: ManagedEndpoint, { notices }: ManagedEndpoint): ManagedEndpoint {
  const announced = new Set(notices.map((notice) => webhookIdOfNotice(endpoint, notice)));
  const left = endpoint.notices.filter((notice) => !announced.has(webhookIdOfNotice(endpoint, notice)));
  return left.length === endpoint.notices.length ? endpoint : { ...endpoint, notices: left };
}

function withNotice(endpoint: ManagedEndpoint, notice: EndpointNotice): ManagedEndpoint {
  return { ...endpoint, notices: [...endpoint.notices, notice] };
}

/**
 * The time of a notice about trouble that began at `since`: `now`, but at least 1 ms after `since`,
 * because clocks of replicas differ and the times order the notices in their lane.
 */
function after(since: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), since.getTime() + 1));
}

/**
 * Whether an endpoint gets a notice about an endpoint of its tenant. While an endpoint is
 * disabled, its webhooks wait, so about itself it gets only the notice of its recovery, which says
 * since when it may have missed webhooks.
 */
export function isToldOf(
  endpoint: ManagedEndpoint,
  about: Pick<Endpoint, "endpointId">,
  { event }: Pick<EndpointNotice, "event">,
): boolean {
  if (!endpoint.events.includes(event)) return false;
  return event === "endpoint.recovered" || endpoint.endpointId !== about.endpointId;
}

/** Notices about one endpoint are one lane of each endpoint that gets them, ordered by time. */
export function noticeDelivery(about: Endpoint, notice: EndpointNotice, to: Endpoint, now: Date): Delivery {
  const webhookId = webhookIdOfNotice(about, notice);
  const facts = { ...notice, host: new URL(about.url).host };
  return {
    deliveryId: deliveryIdOf(to, webhookId),
    tenantId: to.tenantId,
    endpointId: to.endpointId,
    documentId: about.endpointId,
    sequence: notice.at.getTime(),
    signingNumber: 1,
    webhookId,
    createdAt: now,
    bodyBytes: bodyOf(about, facts, webhookId).length,
    notice: facts,
  };
}

/**
 * The payload is signed only by HMAC, because a notice is no snapshot.
 *
 * @throws TypeError when the content is not a notice's, so that nothing else is signed as a notice
 */
export function noticePayload(
  delivery: Pick<Delivery, "webhookId" | "createdAt" | "tenantId" | "documentId">,
  notice: NoticeFacts,
): Postable {
  const { webhookId, createdAt: committedAt, tenantId, documentId: endpointId } = delivery;
  requireNotice(notice);
  const about = { tenantId, endpointId };
  if (webhookId !== webhookIdOfNotice(about, notice)) throw new TypeError(`${webhookId} is not the id of its notice`);
  return { webhookId, signingNumber: 1, event: notice.event, committedAt, body: bodyOf(about, notice, webhookId) };
}

const reasons: Readonly<Record<EndpointNotice["event"], readonly string[]>> = {
  "endpoint.disabled": ["operator", "gone"],
  "endpoint.expiring": ["operator", "gone"],
  "endpoint.recovered": ["enabled", "accepted"],
};

const hostPattern = /^[\w.:[\]-]{1,300}$/;

/** Something else than delivery may have written the row, so its content is checked. */
function requireNotice(notice: NoticeFacts): void {
  const { event, reason, at, since, host } = notice;
  const isKnown = Object.hasOwn(reasons, event) && reasons[event].includes(reason);
  const isActor = notice.event !== "endpoint.disabled" || notice.by === undefined || typeof notice.by === "string";
  const isHost = typeof host === "string" && hostPattern.test(host);
  if (!(isKnown && isActor && isHost && isTime(at) && isTime(since))) throw new TypeError("a notice that none made");
}

function isTime(value: unknown): boolean {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

/**
 * The webhook id of a notice names the endpoint, the beginning of the trouble and the event, so the
 * same trouble is announced once.
 */
function webhookIdOfNotice({ tenantId, endpointId }: EndpointKey, { event, since }: EndpointNotice): string {
  const name = createHash("sha256").update(`${tenantId}\n${endpointId}`).digest("hex").slice(0, 32);
  return `evt_${name}_${since.getTime()}_${event.slice("endpoint.".length)}`;
}

function bodyOf({ tenantId, endpointId }: EndpointKey, notice: NoticeFacts, id: string): Buffer {
  const { event: type, reason, at, host } = notice;
  const data = { tenantId, endpointId, host, reason, ...detailOf(notice) };
  return Buffer.from(JSON.stringify({ id, type, timestamp: at.toISOString(), data }));
}

function detailOf(notice: NoticeFacts) {
  const since = notice.since.toISOString();
  switch (notice.event) {
    case "endpoint.disabled":
      return { actor: notice.by ?? null };
    case "endpoint.expiring":
      return { since, expiresAt: expiryOf(notice.at).toISOString() };
    case "endpoint.recovered":
      return { since };
  }
}
