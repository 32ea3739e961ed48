import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import { deliveryIdOf } from "../domain/delivery.ts";
import { type DeliveryState, deliveryStates, requireStates, shownState } from "../domain/delivery-log.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { earlierWebhookIds } from "../domain/payload.ts";
import type { DeliveryLogStore } from "../store/delivery-log-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { deliveryToProto } from "./delivery-message.ts";
import { requirePageSize } from "./page-size.ts";
import { refused } from "./refused.ts";

export interface ListDeliveriesDeps {
  endpoints: Pick<EndpointStore, "find" | "list">;
  deliveryLog: Pick<DeliveryLogStore, "list">;
}

/** A request without an endpoint lists the deliveries of all endpoints that are registered. */
export function listDeliveries(deps: ListDeliveriesDeps): MethodImpl<typeof DeliveryLogService.method.listDeliveries> {
  return async (request, { signal }) => {
    const tenantId = requireTenantId(request.tenantId);
    const states = requireStates(request.states, deliveryStates);
    const limit = requirePageSize(request.limit);
    const documentId = request.documentId === "" ? undefined : requireUuid(request.documentId, "/documentId");
    const endpoints = await endpointsOf(deps, tenantId, request.endpointId, signal);
    const after = readToken(request.pageToken);
    const query = {
      tenantId,
      endpointIds: [...endpoints.keys()],
      ...storedStates(states, endpoints),
      limit: limit + 1,
      ...(documentId === undefined ? {} : { documentId }),
      ...(request.webhookId === "" ? {} : sentAs(endpoints, request.webhookId)),
      ...(request.since ? { since: timestampDate(request.since) } : {}),
      ...(request.until ? { until: timestampDate(request.until) } : {}),
      ...(after ? { after } : {}),
    };
    const found = await deps.deliveryLog.list(query, signal);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const nextPageToken = last ? encodeOpaqueToken([last.createdAt.getTime(), last.deliveryId]) : "";
    const shown = page.map((each) => deliveryToProto(each, endpoints.get(each.endpointId)));
    return { deliveries: shown, nextPageToken };
  };
}

/**
 * From endpoint id to endpoint: the one that the request names, or all registered ones. A deleted
 * endpoint is undefined.
 */
async function endpointsOf(
  { endpoints }: Pick<ListDeliveriesDeps, "endpoints">,
  tenantId: string,
  endpointId: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Endpoint | undefined>> {
  if (endpointId === "")
    return new Map((await endpoints.list(tenantId, signal)).map((each) => [each.endpointId, each]));
  const id = requireUuid(endpointId, "/endpointId");
  return new Map([[id, await endpoints.find(tenantId, id, signal)]]);
}

/**
 * Selects the deliveries of a webhook by their ids: each is a hash of the endpoint and of the
 * webhook id with which the delivery was stored. A delivery that was stored with an earlier id of
 * the webhook is left out, by `butWebhookIds`, until it was sent with this one.
 */
function sentAs(endpoints: ReadonlyMap<string, unknown>, webhookId: string) {
  const butWebhookIds = earlierWebhookIds(webhookId);
  const storedAs = [...butWebhookIds, webhookId];
  const ofEndpoint = (endpointId: string) => storedAs.map((each) => deliveryIdOf({ endpointId }, each));
  return { deliveryIds: [...endpoints.keys()].flatMap(ofEndpoint), butWebhookIds };
}

/**
 * The stored states of deliveries that are shown in these states. When `states` has only one of
 * `pending` and `held`, `pendingOf` has the ids of the endpoints whose pending deliveries are shown
 * in that one.
 */
function storedStates(states: readonly DeliveryState[], endpoints: ReadonlyMap<string, Endpoint | undefined>) {
  const [isHeldWanted, isPendingWanted] = [states.includes("held"), states.includes("pending")];
  const stored = states.flatMap((state) => (state === "held" ? [] : state));
  if (isHeldWanted === isPendingWanted) return { states: stored };
  const shown = isHeldWanted ? "held" : "pending";
  const pendingOf = [...endpoints].flatMap(([id, each]) => (shownState("pending", each) === shown ? id : []));
  return { states: [...new Set([...stored, "pending" as const])], pendingOf };
}

/** The delivery after which a page begins. A malformed token starts from the top. */
function readToken(token: string): { createdAt: Date; deliveryId: string } | undefined {
  const [createdAt, deliveryId] = decodeOpaqueToken(token) ?? [];
  if (!isEpochMs(createdAt) || typeof deliveryId !== "string") return undefined;
  return { createdAt: new Date(createdAt), deliveryId };
}

function requireUuid(text: string, pointer: string): string {
  const id = parseUuid(text);
  if (id === undefined) throw refused(pointer, "must be a UUID");
  return id;
}
