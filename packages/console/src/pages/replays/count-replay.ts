import type { CountReplayResponse } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls, EndpointCalls } from "../../rpc/called-methods.ts";
import { endpointLabel } from "../deliveries/endpoint-label.ts";
import { listedEndpoints, namesOf } from "../endpoints/read-endpoint.ts";
import { confirmPage } from "../parts/confirm.ts";
import { emptyState } from "../parts/empty-state.ts";
import { type Outcome, refusable } from "../parts/faults.ts";
import { hidden } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { figure } from "../../markup/in-words.ts";
import { onceField } from "../parts/take-form.ts";
import { pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { newReplayForm } from "./new-replay.ts";
import { hiddenReplayForm, readReplayForm, replayFields, type ReplayForm, replayRequest } from "./replay-form.ts";
import { choiceOf } from "./replay-state.ts";
import { waitsNote } from "./waits-note.ts";

export interface CountReplayDeps {
  readonly deliveries: Pick<DeliveryCalls, "countReplay">;
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
}

export function countReplay({ deliveries, endpoints }: CountReplayDeps): TenantRoute {
  return tenantPage({
    path: "/replays/count",
    right: "endpoints",
    load: async (call) => {
      const form = readReplayForm(call.query);
      const [found, counted] = await Promise.all([listedEndpoints(endpoints, call), count(deliveries, form, call)]);
      return { form, found, counted };
    },
    view: ({ form, found, counted }, call) => {
      if ("value" in counted)
        return { title: "Start a replay?", main: countedPage(counted.value, { form, found }, call) };
      const main = newReplayForm(call, { names: namesOf(found), form, faults: counted.faults });
      return { title: "New replay", main, status: 400 };
    },
  });
}

async function count(
  deliveries: CountReplayDeps["deliveries"],
  form: ReplayForm,
  { tenant: { tenantId }, rpc }: TenantCall,
): Promise<Outcome<CountReplayResponse>> {
  const request = replayRequest(form);
  if ("faults" in request) return request;
  return refusable(deliveries.countReplay({ ...request.value, tenantId }, rpc), replayFields);
}

interface Chosen {
  readonly form: ReplayForm;
  readonly found: readonly Endpoint[];
}

function countedPage({ toSend, seen, hasMore }: CountReplayResponse, { form, found }: Chosen, call: TenantCall): Html {
  const { at, url } = call;
  const back = at(`/replays/new${url.search}`);
  if (toSend === 0n && !hasMore) {
    return html`${pageHead({ title: "Nothing would be sent", above: { label: "New replay", href: back } })}
    ${emptyState(
      seen === 0n ? nothingIn(form) : `None of ${snapshots(seen)} fits what you chose.`,
      html`<a href="${back}">Choose something else</a>, or look at
        <a href="${at(`/deliveries?endpoint=${form.endpoint}`)}">the deliveries</a> of the endpoint.`,
    )}`;
  }
  const more =
    hasMore &&
    html` Counted are the first ${snapshots(seen)}, the oldest; <b>there are more</b>, which were not looked at.`;
  return confirmPage({
    title: html`Send ${snapshots(toSend)} to “${endpointLabel(namesOf(found), form.endpoint)}”?`,
    consequence: html`${snapshots(toSend)} of ${figure(seen)} ${toSend === 1n ? "fits" : "fit"} what you chose.${more}
    The receiver gets each with its webhook id of before. A replay can be cancelled; what was sent stays sent.`,
    warning: html`<p>Chosen: ${chosenIn(form)}.</p>
      ${waitsNote(found, form.endpoint, "a replay", at)}`,
    action: at("/replays"),
    fields: html`${hiddenReplayForm(form)} ${hidden("of", hasMore ? "" : String(seen))} ${onceField()}`,
    button: "Start the replay",
    back,
  });
}

function chosenIn(form: ReplayForm): Html | undefined {
  const request = replayRequest(form);
  return "value" in request ? choiceOf(request.value) : undefined;
}

function nothingIn({ since, until }: ReplayForm): string {
  return since === "" && until === "" ? "Nothing was published yet." : "Nothing was published in this time.";
}

function snapshots(count: bigint): string {
  return count === 1n ? "1 snapshot" : `${figure(count)} snapshots`;
}
