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

/** Most attempts: the replay that refused this one may have ended before it is looked for. */
const triesMax = 3;

/** A process of delivery starts the replay within a second. */
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

/** @throws DomainError `failed_precondition` that names the running replay; `conflict` */
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
