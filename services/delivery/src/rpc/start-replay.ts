import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { AuditAuthor } from "@vidimus/tenancy/audit/audit-entry";
import { DomainError } from "@vidimus/kit/errors";
import type { Replay } from "../domain/delivery-log.ts";
import type { AuditedReplays } from "../store/audited-replays.ts";
import type { EndpointStore } from "../store/endpoint-store.ts";
import type { ReplayStore } from "../store/replay-store.ts";
import { requireEndpoint } from "./change-endpoint.ts";
import { replayToProto } from "./delivery-message.ts";
import type { MayChange } from "./may-change.ts";
import { replayFromProto } from "./replay-request.ts";

export interface StartReplayDeps {
  endpoints: Pick<EndpointStore, "find">;
  replays: Pick<ReplayStore, "findRunning">;
  auditedReplays: Pick<AuditedReplays, "start">;
}

/**
 * How often storing a replay is tried at most. A running replay of the endpoint may prevent it, and
 * end before `findRunning` looks for it; then the next try may succeed.
 */
const triesMax = 3;

/**
 * Answers before anything is sent. A process of delivery begins the replay within a second, unless
 * all processes have as many replays in hand as they may.
 */
export function startReplay(
  deps: StartReplayDeps,
  mayChange: MayChange,
): MethodImpl<typeof DeliveryLogService.method.startReplay> {
  return async (request, context) => {
    const by = mayChange(context);
    const endpoint = await requireEndpoint(deps.endpoints, request);
    const replay = replayFromProto(request, endpoint, new Date());
    await storeUnlessRunning(deps, replay, by);
    return { replay: replayToProto(replay) };
  };
}

/**
 * @throws DomainError `failed_precondition` that names the running replay; `conflict` after three
 * tries
 */
async function storeUnlessRunning(deps: StartReplayDeps, replay: Replay, by: AuditAuthor): Promise<void> {
  const { tenantId, endpointId } = replay;
  for (let tries = 0; tries < triesMax; tries += 1) {
    if (await deps.auditedReplays.start(replay, by)) return;
    const running = await deps.replays.findRunning(tenantId, endpointId);
    if (running) throw replayRunning(running);
  }
  throw new DomainError("conflict", "others start replays of this endpoint at the same time; try again");
}

function replayRunning({ replayId }: Replay): DomainError {
  const message = `replay ${replayId} of this endpoint runs; wait for its end or cancel it`;
  return new DomainError("failed_precondition", message, {
    reason: "replay_running",
    metadata: { replay_id: replayId },
  });
}
