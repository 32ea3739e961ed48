import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";
import { stateInWords } from "../deliveries/delivery-state.ts";
import { endpointChoices } from "../deliveries/endpoint-label.ts";
import { type EndpointNames, endpointNames } from "../endpoints/read-endpoint.ts";
import { errorAt, errorSummary, type Fault } from "../parts/faults.ts";
import { checkField, selectField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { instant } from "../parts/times.ts";
import { utcField, utcText } from "../parts/utc-field.ts";
import { replayStates } from "./replay-state.ts";
import { readReplayForm, replayFieldLabels, type ReplayForm, replayOptions } from "./replay-form.ts";

interface NewReplayDeps {
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
}

/** `GET /t/{tenant}/replays/new`: the form for a replay, filled with the choices in the query. */
export function newReplay({ endpoints }: NewReplayDeps): TenantRoute {
  return tenantPage({
    path: "/replays/new",
    right: "endpoints",
    load: (call) => endpointNames(endpoints, call),
    view: (names, call) => ({
      title: "New replay",
      main: newReplayForm(call, { names, form: chosenIn(call) }),
    }),
  });
}

interface NewReplay {
  readonly names: EndpointNames;
  readonly form: ReplayForm;
  readonly faults?: readonly Fault[];
}

const lead =
  "Sends an endpoint what was published and withdrawn once more, or for the first time, in the order of each document. What it would send is counted first; nothing starts yet.";

const neverWanted = "From before the endpoint, or of a type it did not want.";
const states = replayStates.map((value) => ({
  value,
  label: stateInWords(value),
  hint: value === "missing" ? neverWanted : undefined,
}));

/** Buttons that fill in the field `since`. */
const periods = [
  { value: "hour", label: "Last hour", ms: 3_600_000 },
  { value: "day", label: "Last 24 hours", ms: 86_400_000 },
  { value: "week", label: "Last 7 days", ms: 7 * 86_400_000 },
];

/** The choices of the query; `?last=hour` replaces its times. */
function chosenIn({ query, now }: TenantCall): ReplayForm {
  const form = readReplayForm(query);
  const period = periods.find(({ value }) => value === query.get("last"));
  return period ? { ...form, since: utcText(new Date(now.getTime() - period.ms)), until: "" } : form;
}

/**
 * Enter in a field presses a form's first button, which without this one would be that of a period.
 */
const enterButton = html`<button hidden></button>`;

export function newReplayForm({ at, now }: TenantCall, { names, form, faults = [] }: NewReplay): Html {
  return html`${errorSummary(faults, replayFieldLabels)}
    ${pageHead({ title: "New replay", lead, above: { label: "Replays", href: at("/replays") } })}
    <form method="get" action="${at("/replays/count")}">
      ${enterButton}
      ${selectField({
        name: "endpoint",
        label: "Endpoint",
        value: form.endpoint,
        choices: [{ value: "", label: "choose one" }, ...endpointChoices(names, form.endpoint)],
        error: errorAt(faults, "endpoint"),
      })}
      ${utcField({
        name: "since",
        label: "Published from",
        hint: html`Now it is ${instant(now)}.`,
        value: form.since,
        error: errorAt(faults, "since"),
      })}
      <div class="actions field" role="group" aria-label="Published in the">
        ${periods.map(
          ({ value, label }) =>
            html`<button name="last" value="${value}" formaction="${at("/replays/new")}">${label}</button>`,
        )}
      </div>
      ${utcField({ name: "until", label: "Published before", value: form.until, error: errorAt(faults, "until") })}
      ${checkField({
        name: "states",
        label: "Whose delivery is",
        hint: "Without a choice the state does not matter.",
        choices: states,
        chosen: form.states,
        error: errorAt(faults, "states"),
      })}
      ${checkField({
        name: "options",
        label: "How much",
        choices: replayOptions,
        chosen: form.options,
        error: errorAt(faults, "options"),
      })}
      <div class="actions">
        <button class="primary">Count what it would send</button>
        <a class="button" href="${at("/replays")}">Cancel</a>
      </div>
    </form>`;
}
