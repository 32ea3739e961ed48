import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { countWanted, type CountWantedDeps } from "../replay/count-wanted.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { replayFromProto } from "./replay-request.ts";

export interface CountReplayDeps extends CountWantedDeps {
  endpoints: Pick<EndpointStore, "find">;
}

export function countReplay(deps: CountReplayDeps): MethodImpl<typeof DeliveryLogService.method.countReplay> {
  return async (request, { signal }) => {
    const endpoint = await requireEndpoint(deps.endpoints, request, signal);
    const replay = replayFromProto(request, endpoint, new Date());
    const { wanted, seen, hasMore } = await countWanted(deps, replay, endpoint, signal);
    return { toSend: BigInt(wanted), seen: BigInt(seen), hasMore };
  };
}
