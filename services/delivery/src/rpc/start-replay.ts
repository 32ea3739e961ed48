import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { DomainError } from "@vidimus/kit/errors";
import { uuidv7 } from "@vidimus/kit/ids";
import { type Replay, replayStates, requireStates } from "../domain/delivery-log.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { ReplayStore } from "../store/replay-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { replayToProto } from "./delivery-message.ts";
import type { MayChange } from "./may-change.ts";

export interface StartReplayDeps {
  endpoints: Pick<EndpointStore, "find">;
  replays: Pick<ReplayStore, "insert">;
}

/** Implements `StartReplay`. A process of delivery takes it within a second. */
export function startReplay(
  deps: StartReplayDeps,
  mayChange: MayChange,
): MethodImpl<typeof DeliveryLogService.method.startReplay> {
  return async (request, context) => {
    mayChange(context);
    const { tenantId, endpointId, documentTypes } = await requireEndpoint(deps.endpoints, request);
    const states = requireStates(request.states, replayStates);
    const now = new Date();
    const replay: Replay = {
      replayId: uuidv7(),
      tenantId,
      endpointId,
      ...(request.since ? { since: timestampDate(request.since) } : {}),
      until: request.until ? timestampDate(request.until) : now,
      states: states.length > 0 ? states : replayStates,
      latestOnly: request.latestOnly,
      ...(documentTypes ? { documentTypes } : {}),
      state: "running",
      pageToken: "",
      counts: { seen: 0, delivered: 0, failed: 0, skipped: 0 },
      failedTurns: 0,
      createdAt: now,
    };
    if (!(await deps.replays.insert(replay))) {
      throw new DomainError("failed_precondition", "another replay of this endpoint runs");
    }
    return { replay: replayToProto(replay) };
  };
}
