import type { TenantCall } from "../../http/route.ts";
import type { EndpointNames } from "../endpoints/read-endpoint.ts";
import { errorAt, type Fault } from "../parts/faults.ts";
import { filterForm } from "../parts/filter-form.ts";
import { selectField, textField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { utcField } from "../parts/utc-field.ts";
import { isNarrowed, readDeliveryQuery } from "./delivery-query.ts";
import { deliveryStates } from "./delivery-state.ts";
import { endpointChoices } from "./endpoint-label.ts";

/** The states that the API calls otherwise: `“waiting” is pending, “given up” is exhausted`. */
const apiWords = deliveryStates
  .flatMap(({ value, label }): string[] => (value === label ? [] : [`“${label}” is ${value}`]))
  .join(", ");

export const filterLabels = {
  state: "State",
  endpoint: "Endpoint",
  document: "Document id",
  webhook: "Webhook id",
  since: "Stored from",
  until: "Stored before",
};

export function deliveryFilters({ at, query }: TenantCall, names: EndpointNames, faults: readonly Fault[]): Html {
  const asked = readDeliveryQuery(query);
  const text = (name: "document" | "webhook", hint?: string) =>
    textField({
      name,
      label: filterLabels[name],
      value: asked[name],
      ...(hint !== undefined && { hint }),
      isOptional: true,
      max: 200,
      error: errorAt(faults, name),
    });
  const time = (name: "since" | "until") =>
    utcField({ name, label: filterLabels[name], value: asked[name], error: errorAt(faults, name) });
  const fields = [
    selectField({
      name: "state",
      label: filterLabels.state,
      value: asked.state,
      choices: [{ value: "", label: "all" }, ...deliveryStates],
      error: errorAt(faults, "state"),
    }),
    selectField({
      name: "endpoint",
      label: filterLabels.endpoint,
      value: asked.endpoint,
      choices: [{ value: "", label: "all" }, ...endpointChoices(names, asked.endpoint)],
      error: errorAt(faults, "endpoint"),
    }),
    text("document"),
    text("webhook", "The whole id."),
    time("since"),
    time("until"),
  ];
  return html`${filterForm(at("/deliveries"), fields, isNarrowed(asked))}
    <p class="hint">In the API ${apiWords}.</p>`;
}
