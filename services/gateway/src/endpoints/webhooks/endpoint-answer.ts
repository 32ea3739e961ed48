import { durationMs, type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Endpoint, EndpointHealth, PingResult } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { attemptOf } from "./delivery-answer.ts";

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
    at: isoOrNull(disablement.at),
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
    previousSecretEndsAt: isoOrNull(endpoint.previousSecretEndsAt),
    createdAt: isoOrNull(endpoint.createdAt),
    updatedAt: isoOrNull(endpoint.updatedAt),
  };
}

export function endpointWithHealthOf(endpoint: Endpoint | undefined) {
  const health = endpoint?.health;
  return { ...endpointOf(endpoint), health: health ? healthOf(health) : null };
}

function healthOf({ gate, pendingDocuments, lastFailure, heldDeliveries, hasMoreHeld, ...health }: EndpointHealth) {
  return {
    gate,
    openSince: isoOrNull(health.openSince),
    nextProbeAt: isoOrNull(health.nextProbeAt),
    oldestPendingAt: isoOrNull(health.oldestPendingAt),
    pendingDocuments: Number(pendingDocuments),
    lastAcceptedAt: isoOrNull(health.lastAcceptedAt),
    lastFailure: lastFailure ? attemptOf(lastFailure) : null,
    heldDeliveries,
    hasMoreHeld,
    oldestHeldAt: isoOrNull(health.oldestHeldAt),
  };
}

export function pingOf(ping: PingResult | undefined) {
  if (!ping) throw new Error("delivery answered without the ping");
  const { accepted, status, failure, detail, answer, took } = ping;
  const tookMs = took ? Math.round(durationMs(took)) : 0;
  return { accepted, status: status || null, failure: failure || null, detail: detail || null, tookMs, answer };
}

function isoOrNull(time: Timestamp | undefined): string | null {
  return time ? timestampDate(time).toISOString() : null;
}
