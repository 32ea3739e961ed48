import type { CountReplayResponse } from "@vidimus/contracts/vidimus/delivery/v1/delivery_log_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { DeliveryCalls, EndpointCalls } from "../../rpc/called-methods.ts";
import { endpointLabel } from "../deliveries/endpoint-label.ts";
import { type EndpointNames, endpointNames } from "../endpoints/read-endpoint.ts";
import { confirmPage } from "../parts/confirm.ts";
import { emptyState } from "../parts/empty-state.ts";
import { type Outcome, refusable } from "../parts/faults.ts";
import { hidden } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { onceField } from "../parts/take-form.ts";
import { pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { newReplayForm } from "./new-replay.ts";
import { hiddenReplayForm, readReplayForm, replayFields, type ReplayForm, replayRequest } from "./replay-form.ts";

export interface CountReplayDeps {
  readonly deliveries: Pick<DeliveryCalls, "countReplay">;
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
}

/**
 * `GET /t/{tenant}/replays/count`: shows what a replay would send, and asks whether to start it.
 */
export function countReplay({ deliveries, endpoints }: CountReplayDeps): TenantRoute {
  return tenantPage({
    path: "/replays/count",
    right: "endpoints",
    load: async (call) => {
      const form = readReplayForm(call.query);
      const [names, counted] = await Promise.all([endpointNames(endpoints, call), count(deliveries, form, call)]);
      return { form, names, counted };
    },
    view: ({ form, names, counted }, call) =>
      "faults" in counted
        ? { title: "New replay", main: newReplayForm(call, { names, form, faults: counted.faults }), status: 400 }
        : { title: "Start a replay?", main: countedPage(counted.value, { form, names }, call) },
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
  readonly names: EndpointNames;
}

const figures = new Intl.NumberFormat("en");

function countedPage({ toSend, seen, hasMore }: CountReplayResponse, { form, names }: Chosen, call: TenantCall): Html {
  const { at, url } = call;
  const back = at(`/replays/new${url.search}`);
  if (toSend === 0n && !hasMore) {
    return html`${pageHead({ title: "Nothing would be sent", above: { label: "New replay", href: back } })}
    ${emptyState(
      `None of ${snapshots(seen)} fits what you chose.`,
      html`<a href="${back}">Choose something else</a>, or look at
        <a href="${at(`/deliveries?endpoint=${form.endpoint}`)}">the deliveries</a> of the endpoint.`,
    )}`;
  }
  const more =
    hasMore &&
    html` Counted are the first ${snapshots(seen)}, the oldest; <b>there are more</b>, which were not looked at.`;
  return confirmPage({
    title: html`Send ${snapshots(toSend)} to “${endpointLabel(names, form.endpoint)}”?`,
    consequence: html`${snapshots(toSend)} of ${figures.format(seen)} ${toSend === 1n ? "fits" : "fit"} what you
    chose.${more} The receiver gets each with its webhook id of before. A replay can be cancelled; what was sent stays
    sent.`,
    action: at("/replays"),
    fields: html`${hiddenReplayForm(form)} ${hidden("of", hasMore ? "" : String(seen))} ${onceField()}`,
    button: "Start the replay",
    back,
  });
}

function snapshots(count: bigint): string {
  return count === 1n ? "1 snapshot" : `${figures.format(count)} snapshots`;
}
