import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Endpoint, EndpointHealth, PingResult } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { isoTime } from "../rpc/iso-time.ts";
import { outcomeOf, toShownAttempt, wordsOf } from "./shown-delivery.ts";

/** An endpoint as `--json` prints it, in the form of the public API. */
export function toShown(endpoint: Endpoint | undefined) {
  const { disablement } = endpoint ?? {};
  return {
    id: endpoint?.endpointId ?? "",
    url: endpoint?.url ?? "",
    name: endpoint?.name ?? "",
    description: endpoint?.description ?? "",
    enabled: !disablement,
    disabled: disablement
      ? { at: isoTime(disablement.at), reason: disablement.reason, actor: disablement.actor || null }
      : null,
    events: endpoint?.events ?? [],
    documentTypes: endpoint?.documentTypes ?? [],
    headerNames: endpoint?.headerNames ?? [],
    maxInFlight: endpoint?.maxInFlight ?? 0,
    ratePerSecond: endpoint?.ratePerSecond || null,
    previousSecretEndsAt: isoTime(endpoint?.previousSecretEndsAt),
    createdAt: isoTime(endpoint?.createdAt),
    updatedAt: isoTime(endpoint?.updatedAt),
  };
}

/** An endpoint with its health, which is null when delivery could not read it in time. */
export function toShownWithHealth(endpoint: Endpoint | undefined) {
  return { ...toShown(endpoint), health: endpoint?.health ? toShownHealth(endpoint.health) : null };
}

function toShownHealth(full: EndpointHealth) {
  const { gate, pendingDocuments, lastFailure, heldDeliveries, hasMoreHeld, ...health } = full;
  return {
    gate,
    openSince: isoTime(health.openSince),
    nextProbeAt: isoTime(health.nextProbeAt),
    oldestPendingAt: isoTime(health.oldestPendingAt),
    pendingDocuments: Number(pendingDocuments),
    lastAcceptedAt: isoTime(health.lastAcceptedAt),
    lastFailure: lastFailure ? toShownAttempt(lastFailure) : null,
    heldDeliveries,
    hasMoreHeld,
    oldestHeldAt: isoTime(health.oldestHeldAt),
  };
}

export type ShownEndpoint = ReturnType<typeof toShown> & { readonly health?: ReturnType<typeof toShownHealth> | null };

/** A failing endpoint whose health was not read counts as enabled. */
export function stateOf({ disabled, health }: ShownEndpoint): string {
  if (disabled) return disabled.reason === "gone" ? "disabled (410)" : "disabled";
  return health && health.gate !== "closed" ? `failing (${health.gate})` : "enabled";
}

function healthLines({ health }: ShownEndpoint): string[] {
  if (!health) return [];
  const { openSince, nextProbeAt, oldestPendingAt, pendingDocuments, lastAcceptedAt, lastFailure, oldestHeldAt } =
    health;
  const waiting = oldestPendingAt ? `of ${pendingDocuments} documents, the oldest since ${oldestPendingAt}` : "nothing";
  const failure = lastFailure ? `${lastFailure.at}  ${outcomeOf(lastFailure)}  ${wordsOf(lastFailure)}` : "";
  return [
    ...(oldestHeldAt ? [`held             ${heldText(health)}, the oldest since ${oldestHeldAt}`] : []),
    ...(openSince ? [`failing          since ${openSince}`] : []),
    ...(nextProbeAt ? [`next attempt     ${nextProbeAt}`] : []),
    `pending          ${waiting}`,
    `last accepted    ${lastAcceptedAt ?? "never, or over 30 days ago"}`,
    ...(failure ? [`last failure     ${failure}`] : []),
  ];
}

function heldText({ heldDeliveries, hasMoreHeld }: ReturnType<typeof toShownHealth>): string {
  return hasMoreHeld ? `more than ${heldDeliveries} deliveries` : `${heldDeliveries} deliveries`;
}

export function endpointText(shown: ShownEndpoint): string {
  const { disabled } = shown;
  const by = disabled?.actor ? ` by ${disabled.actor}` : "";
  return [
    `endpoint         ${shown.id}`,
    `name             ${shown.name}`,
    ...(shown.description ? [`description      ${shown.description}`] : []),
    `url              ${shown.url}`,
    `state            ${stateOf(shown)}${disabled ? ` since ${disabled.at}${by}` : ""}`,
    `events           ${shown.events.join(", ")}`,
    `document types   ${shown.documentTypes.join(", ") || "all"}`,
    `headers          ${shown.headerNames.join(", ") || "none"}`,
    `max in flight    ${shown.maxInFlight}`,
    `rate             ${shown.ratePerSecond === null ? "no limit" : `${shown.ratePerSecond} a second`}`,
    ...(shown.previousSecretEndsAt ? [`older secret     used until ${shown.previousSecretEndsAt}`] : []),
    `created          ${shown.createdAt}`,
    `changed          ${shown.updatedAt}`,
    ...healthLines(shown),
  ].join("\n");
}

/** The result of a ping, as `--json` prints it. */
export function toShownPing(ping: PingResult | undefined) {
  const { accepted = false, status = 0, failure = "", detail = "", answer = "", took } = ping ?? {};
  const tookMs = took ? Math.round(durationMs(took)) : 0;
  return { accepted, status: status || null, failure: failure || null, detail: detail || null, tookMs, answer };
}

export function pingText({ status, failure, detail, tookMs, accepted }: ReturnType<typeof toShownPing>): string {
  if (failure) return `the ping failed after ${tookMs} ms: ${failure}${detail ? `, ${detail}` : ""}`;
  return `the ping was ${accepted ? "accepted" : "refused"} with ${status} after ${tookMs} ms`;
}
