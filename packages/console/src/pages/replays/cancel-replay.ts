import type { Replay } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls } from "../../rpc/called-methods.ts";
import { confirmPage } from "../parts/confirm.ts";
import { type Html, html } from "../../markup/html.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { progressOf } from "./replay-state.ts";
import { readReplay } from "./show-replay.ts";

const path = "/replays/:replay/cancel";

export function askToCancelReplay({
  deliveries,
}: {
  readonly deliveries: Pick<DeliveryCalls, "getReplay">;
}): TenantRoute {
  return tenantPage({
    path,
    right: "endpoints",
    load: (call) => readReplay(deliveries, call),
    view: (replay, call) => ({ title: "Cancel a replay", main: cancelForm(replay, call) }),
  });
}

/** A POST for a replay that has ended changes nothing. */
export function cancelReplay({
  deliveries,
}: {
  readonly deliveries: Pick<DeliveryCalls, "cancelReplay">;
}): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "endpoints",
    handle: async ({ tenant: { tenantId }, params, rpc, at }) => {
      const replayId = params["replay"] ?? "";
      const { replay } = await deliveries.cancelReplay({ tenantId, replayId }, rpc);
      return { to: at(`/replays/${replayId}${replay?.state === "cancelled" ? "?done=cancelled" : ""}`) };
    },
  };
}

function cancelForm(replay: Replay, { at }: TenantCall): Html {
  const back = at(`/replays/${replay.replayId}`);
  return confirmPage({
    title: "Cancel this replay?",
    consequence: html`What was sent stays sent, and nothing more of it is sent. So far: ${progressOf(replay)}.`,
    action: at(`/replays/${replay.replayId}/cancel`),
    button: "Cancel the replay",
    isDanger: true,
    back,
    backLabel: "Let it run",
  });
}
