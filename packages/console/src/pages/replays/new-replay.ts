import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";
import { endpointChoices } from "../deliveries/endpoint-label.ts";
import { type EndpointNames, endpointNames } from "../endpoints/read-endpoint.ts";
import { errorAt, errorSummary, type Fault } from "../parts/faults.ts";
import { checkField, selectField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { utcField } from "../parts/utc-field.ts";
import { readReplayForm, type ReplayForm } from "./replay-form.ts";

interface NewReplayDeps {
  readonly endpoints: Pick<EndpointCalls, "listEndpoints">;
}

/**
 * `GET /t/{tenant}/replays/new`: the form for a replay. The query may contain choices, which fill
 * the form.
 */
export function newReplay({ endpoints }: NewReplayDeps): TenantRoute {
  return tenantPage({
    path: "/replays/new",
    right: "endpoints",
    load: (call) => endpointNames(endpoints, call),
    view: (names, call) => ({
      title: "New replay",
      main: newReplayForm(call, { names, form: readReplayForm(call.query) }),
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

const states = [
  { value: "exhausted", label: "given up" },
  { value: "missing", label: "never to be delivered", hint: "From before the endpoint, or of a type it did not want." },
  { value: "superseded", label: "superseded" },
  { value: "delivered", label: "delivered" },
];

const options = [
  { value: "latest", label: "Only the newest of each document" },
  { value: "all", label: "Everything", hint: "Without a beginning and without states, for a receiver that lost all." },
];

/** The form, with previous choices. Sending it opens the page of the count. */
export function newReplayForm({ at }: TenantCall, { names, form, faults = [] }: NewReplay): Html {
  return html`${errorSummary(faults)}
    ${pageHead({ title: "New replay", lead, above: { label: "Replays", href: at("/replays") } })}
    <form method="get" action="${at("/replays/count")}">
      ${selectField({
        name: "endpoint",
        label: "Endpoint",
        value: form.endpoint,
        choices: [{ value: "", label: "choose one" }, ...endpointChoices(names, form.endpoint)],
        error: errorAt(faults, "endpoint"),
      })}
      ${utcField({ name: "since", label: "Published from", value: form.since, error: errorAt(faults, "since") })}
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
        choices: options,
        chosen: form.options,
        error: errorAt(faults, "options"),
      })}
      <div class="actions">
        <button class="primary">Count what it would send</button>
        <a class="button" href="${at("/replays")}">Cancel</a>
      </div>
    </form>`;
}
