import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken, isEpochMs } from "@vidimus/kit/opaque-token";
import { deliveryStates, requireStates } from "../domain/delivery-log.ts";
import type { DeliveryLogStore } from "../store/delivery-log-store.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { deliveryToProto } from "./delivery-message.ts";

export interface ListDeliveriesDeps {
  endpoints: Pick<EndpointStore, "list">;
  deliveryLog: Pick<DeliveryLogStore, "list">;
}

const [limitDefault, limitMax] = [50, 200];

/** Implements `ListDeliveries`. Without an endpoint it lists those of all that are registered. */
export function listDeliveries(deps: ListDeliveriesDeps): MethodImpl<typeof DeliveryLogService.method.listDeliveries> {
  return async (request, { signal }) => {
    const tenantId = requireTenantId(request.tenantId);
    const states = requireStates(request.states, deliveryStates);
    const limit = request.limit === 0 ? limitDefault : request.limit;
    if (limit > limitMax) throw invalid("/limit", `must be an integer from 1 to ${limitMax}`);
    const documentId = request.documentId === "" ? undefined : requireUuid(request.documentId, "/documentId");
    const endpointIds =
      request.endpointId === ""
        ? (await deps.endpoints.list(tenantId, signal)).map(({ endpointId }) => endpointId)
        : [requireUuid(request.endpointId, "/endpointId")];
    const after = readToken(request.pageToken);
    const query = {
      tenantId,
      endpointIds,
      states,
      limit: limit + 1,
      ...(documentId === undefined ? {} : { documentId }),
      ...(request.since ? { since: timestampDate(request.since) } : {}),
      ...(request.until ? { until: timestampDate(request.until) } : {}),
      ...(after ? { after } : {}),
    };
    const found = await deps.deliveryLog.list(query, signal);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const nextPageToken = last ? encodeOpaqueToken([last.createdAt.getTime(), last.deliveryId]) : "";
    return { deliveries: page.map(deliveryToProto), nextPageToken };
  };
}

/** The delivery after which a page begins. A malformed token means from the top. */
function readToken(token: string): { createdAt: Date; deliveryId: string } | undefined {
  const [createdAt, deliveryId] = decodeOpaqueToken(token) ?? [];
  if (!isEpochMs(createdAt) || typeof deliveryId !== "string") return undefined;
  return { createdAt: new Date(createdAt), deliveryId };
}

function requireUuid(text: string, pointer: string): string {
  const id = parseUuid(text);
  if (id === undefined) throw invalid(pointer, "must be a UUID");
  return id;
}

function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
