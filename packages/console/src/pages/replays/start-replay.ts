import type { StartReplayResponse } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { DomainError } from "@vidimus/kit/errors";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls, EndpointCalls } from "../../rpc/called-methods.ts";
import { type EndpointNames, endpointNames } from "../endpoints/read-endpoint.ts";
import { type Fault, refusable } from "../parts/faults.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { type SentForms, takeForm } from "../parts/take-form.ts";
import { answerPage } from "../parts/tenant-page.ts";
import { newReplayForm } from "./new-replay.ts";
import { choiceInWords, readReplayForm, replayFieldLabels, replayFields, replayRequest } from "./replay-form.ts";

export interface StartReplayDeps {
  readonly deliveries: Pick<DeliveryCalls, "startReplay">;
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
  readonly sentForms: SentForms;
}

export function startReplay({ deliveries, endpoints, sentForms }: StartReplayDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: "/replays",
    right: "endpoints",
    fields: replayFieldLabels,
    inWords: choiceInWords,
    handle: async (call) => {
      const { tenant, at } = call;
      const form = readReplayForm(call.form);
      const again = (names: EndpointNames, faults: readonly Fault[]) => {
        const main = newReplayForm(call, { names, form, faults });
        return answerPage(call, { title: "New replay", main, status: 400 });
      };
      const request = replayRequest(form);
      if ("faults" in request) return again(await endpointNames(endpoints, call), request.faults);
      const taken = await takeForm(sentForms, call);
      if ("before" in taken) {
        return { to: taken.before?.path ?? at(`/replays?${new URLSearchParams({ endpoint: form.endpoint })}`) };
      }
      const names = meanwhile(endpointNames(endpoints, call));
      const whole = { ...request.value, tenantId: tenant.tenantId };
      const starting = deliveries.startReplay(whole, taken.rpc);
      const started = await refusable(taken.settle(starting, startedPage(call)), replayFields, runs(call));
      if ("faults" in started) return again(await names, started.faults);
      return { to: startedPage(call)(started.value).path };
    },
  };
}

function runs({ at }: TenantCall) {
  return ({ reason, metadata }: DomainError): Fault | undefined => {
    if (reason !== "replay_running") return undefined;
    const error = "A replay to this endpoint is running. Wait for its end, or cancel it.";
    return { field: "", error, href: at(`/replays/${metadata["replay_id"] ?? ""}`) };
  };
}

function startedPage({ form, at }: TenantCall) {
  return ({ replay }: StartReplayResponse) => {
    if (!replay) throw new Error("StartReplay answered no replay");
    const of = form.get("of") ?? "";
    const total = /^\d{1,15}$/.test(of) ? `&of=${of}` : "";
    return { path: at(`/replays/${replay.replayId}?done=started${total}`) };
  };
}
