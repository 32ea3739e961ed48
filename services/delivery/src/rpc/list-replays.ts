import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import { decodeOpaqueToken, encodeOpaqueToken } from "@vidimus/kit/opaque-token";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { ReplayStore } from "../store/replay-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { replayToProto } from "./delivery-message.ts";
import { requirePageSize } from "./page-size.ts";

export interface ListReplaysDeps {
  endpoints: Pick<EndpointStore, "find">;
  replays: Pick<ReplayStore, "list">;
}

export function listReplays(deps: ListReplaysDeps): MethodImpl<typeof DeliveryLogService.method.listReplays> {
  return async (request, { signal }) => {
    const limit = requirePageSize(request.limit);
    const { endpointId } = await requireEndpoint(deps.endpoints, request, signal);
    const tenantId = requireTenantId(request.tenantId);
    const found = await deps.replays.list(tenantId, endpointId, limit + 1, readToken(request.pageToken), signal);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return { replays: page.map(replayToProto), nextPageToken: last ? encodeOpaqueToken([last.replayId]) : "" };
  };
}

/** The replay after which a page begins. A malformed token starts from the top. */
function readToken(token: string): string | undefined {
  const [replayId] = decodeOpaqueToken(token) ?? [];
  return typeof replayId === "string" ? parseUuid(replayId) : undefined;
}
