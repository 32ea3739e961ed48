import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { ReplayStore } from "../store/replay-store.ts";
import { replayToProto } from "./delivery-message.ts";
import { requireReplay } from "./get-replay.ts";
import type { MayChange } from "./may-change.ts";

export interface CancelReplayDeps {
  replays: Pick<ReplayStore, "find" | "cancel">;
}

/** Implements `CancelReplay`. */
export function cancelReplay(
  { replays }: CancelReplayDeps,
  mayChange: MayChange,
): MethodImpl<typeof DeliveryLogService.method.cancelReplay> {
  return async (request, context) => {
    mayChange(context);
    const { tenantId, replayId } = await requireReplay(replays, request);
    await replays.cancel(tenantId, replayId, new Date());
    return { replay: replayToProto(await requireReplay(replays, request)) };
  };
}
