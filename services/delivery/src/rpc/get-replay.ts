import type { MethodImpl } from "@connectrpc/connect";
import type { DeliveryLogService } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import type { Replay } from "../domain/delivery-log.ts";
import type { ReplayStore } from "../store/replay-store.ts";
import { replayToProto } from "./delivery-message.ts";

export interface GetReplayDeps {
  replays: Pick<ReplayStore, "find">;
}

export function getReplay({ replays }: GetReplayDeps): MethodImpl<typeof DeliveryLogService.method.getReplay> {
  return async (request) => ({ replay: replayToProto(await requireReplay(replays, request)) });
}

/**
 * @throws DomainError `not_found` when the tenant has no such replay; `invalid` for a malformed
 * tenant id
 */
export async function requireReplay(
  replays: Pick<ReplayStore, "find">,
  name: { readonly tenantId: string; readonly replayId: string },
): Promise<Replay> {
  const tenantId = requireTenantId(name.tenantId);
  const replayId = parseUuid(name.replayId);
  const found = replayId === undefined ? undefined : await replays.find(tenantId, replayId);
  if (!found) throw new DomainError("not_found", "there is no such replay");
  return found;
}
