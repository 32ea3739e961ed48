import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { EndpointHealthSchema, EndpointSchema } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { ManagedEndpoint } from "../domain/endpoint.ts";
import type { EndpointHealth } from "../domain/endpoint-health.ts";
import { attemptToProto } from "./delivery-message.ts";

/** The name of an endpoint; the host of its URL when nobody has named it. */
export function shownName({ name, url }: Pick<ManagedEndpoint, "name" | "url">): string {
  return name || new URL(url).host.slice(0, 200);
}

/** An endpoint as a message, without its secret and with only the names of its headers. */
export function toProto(endpoint: ManagedEndpoint, health?: EndpointHealth): MessageInitShape<typeof EndpointSchema> {
  const { endpointId, tenantId, url, events, maxInFlight, disabled, previousSecretEndsAt } = endpoint;
  const { documentTypes = [], ratePerSecond = 0 } = endpoint;
  return {
    endpointId,
    tenantId,
    url,
    name: shownName(endpoint),
    description: endpoint.description,
    createdAt: timestampFromDate(endpoint.createdAt),
    updatedAt: timestampFromDate(endpoint.updatedAt),
    events: [...events],
    documentTypes: [...documentTypes],
    headerNames: Object.keys(endpoint.headers).toSorted(),
    maxInFlight,
    ratePerSecond,
    ...(disabled ? { disablement: toDisablement(disabled) } : {}),
    ...(previousSecretEndsAt ? { previousSecretEndsAt: timestampFromDate(previousSecretEndsAt) } : {}),
    ...(health ? { health: toHealth(health) } : {}),
  };
}

function toHealth(health: EndpointHealth): MessageInitShape<typeof EndpointHealthSchema> {
  const { gate, openSince, nextProbeAt, backlog, held, lastAcceptedAt } = health;
  return {
    gate,
    ...(openSince ? { openSince: timestampFromDate(openSince) } : {}),
    ...(nextProbeAt ? { nextProbeAt: timestampFromDate(nextProbeAt) } : {}),
    ...(lastAcceptedAt ? { lastAcceptedAt: timestampFromDate(lastAcceptedAt) } : {}),
    ...(backlog ? { oldestPendingAt: timestampFromDate(backlog.oldestAt) } : {}),
    ...(backlog ? { pendingDocuments: BigInt(backlog.documents) } : {}),
    ...(held ? { heldDeliveries: held.count, hasMoreHeld: held.hasMore } : {}),
    ...(held?.oldestAt ? { oldestHeldAt: timestampFromDate(held.oldestAt) } : {}),
    ...(backlog?.lastFailure ? { lastFailure: attemptToProto(backlog.lastFailure) } : {}),
  };
}

function toDisablement({ at, reason, by = "" }: NonNullable<ManagedEndpoint["disabled"]>) {
  return { at: timestampFromDate(at), reason, actor: by };
}
