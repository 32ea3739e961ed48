import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { AuditedReplays } from "../store/audited-replays.ts";
import type { ReplayStore } from "../store/replay-store.ts";
import { replayToProto } from "./delivery-message.ts";
import { requireReplay } from "./get-replay.ts";
import type { MayChange } from "./may-change.ts";

export interface CancelReplayDeps {
  replays: Pick<ReplayStore, "find">;
  auditedReplays: Pick<AuditedReplays, "cancel">;
}

export function cancelReplay(
  { replays, auditedReplays }: CancelReplayDeps,
  mayChange: MayChange,
): MethodImpl<typeof DeliveryLogService.method.cancelReplay> {
  return async (request, context) => {
    const by = mayChange(context);
    await auditedReplays.cancel(await requireReplay(replays, request), new Date(), by);
    return { replay: replayToProto(await requireReplay(replays, request)) };
  };
}
