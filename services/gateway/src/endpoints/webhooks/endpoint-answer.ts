import { durationMs, type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Endpoint, EndpointHealth, PingResult } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { attemptOf } from "./delivery-answer.ts";

/** An endpoint as it is answered. */
export function endpointOf(endpoint: Endpoint | undefined) {
  if (!endpoint) throw new Error("delivery answered without the endpoint");
  const {
    endpointId: id,
    url,
    name,
    description,
    events,
    documentTypes,
    headerNames,
    maxInFlight,
    disablement,
  } = endpoint;
  const disabled = disablement && {
    at: timeOf(disablement.at),
    reason: disablement.reason,
    actor: disablement.actor || null,
  };
  return {
    id,
    url,
    name,
    description,
    enabled: !disabled,
    disabled: disabled ?? null,
    events,
    documentTypes,
    headerNames,
    maxInFlight,
    ratePerSecond: endpoint.ratePerSecond || null,
    previousSecretEndsAt: timeOf(endpoint.previousSecretEndsAt),
    createdAt: timeOf(endpoint.createdAt),
    updatedAt: timeOf(endpoint.updatedAt),
  };
}

/** An endpoint with its health, as it is answered. */
export function endpointWithHealthOf(endpoint: Endpoint | undefined) {
  const health = endpoint?.health;
  return { ...endpointOf(endpoint), health: health ? healthOf(health) : null };
}

function healthOf({ gate, pendingDocuments, lastFailure, heldDeliveries, hasMoreHeld, ...health }: EndpointHealth) {
  return {
    gate,
    openSince: timeOf(health.openSince),
    nextProbeAt: timeOf(health.nextProbeAt),
    oldestPendingAt: timeOf(health.oldestPendingAt),
    pendingDocuments: Number(pendingDocuments),
    lastAcceptedAt: timeOf(health.lastAcceptedAt),
    lastFailure: lastFailure ? attemptOf(lastFailure) : null,
    heldDeliveries,
    hasMoreHeld,
    oldestHeldAt: timeOf(health.oldestHeldAt),
  };
}

/** What came of a ping, as it is answered. */
export function pingOf(ping: PingResult | undefined) {
  if (!ping) throw new Error("delivery answered without the ping");
  const { accepted, status, failure, detail, answer, took } = ping;
  const tookMs = took ? Math.round(durationMs(took)) : 0;
  return { accepted, status: status || null, failure: failure || null, detail: detail || null, tookMs, answer };
}

function timeOf(time: Timestamp | undefined): string | null {
  return time ? timestampDate(time).toISOString() : null;
}
