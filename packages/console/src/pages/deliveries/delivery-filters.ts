import type { TenantCall } from "../../http/route.ts";
import type { EndpointNames } from "../endpoints/read-endpoint.ts";
import { errorAt, type Fault } from "../parts/faults.ts";
import { filterForm } from "../parts/filter-form.ts";
import { selectField, textField } from "../parts/form.ts";
import type { Html } from "../../markup/html.ts";
import { utcField } from "../parts/utc-field.ts";
import { readDeliveryQuery } from "./delivery-query.ts";
import { deliveryStates } from "./delivery-state.ts";
import { endpointChoices } from "./endpoint-label.ts";

/** The filters of the list of deliveries, filled from the URL. */
export function deliveryFilters({ at, query }: TenantCall, names: EndpointNames, faults: readonly Fault[]): Html {
  const asked = readDeliveryQuery(query);
  const text = (name: "document" | "webhook", label: string) =>
    textField({ name, label, value: asked[name], isOptional: true, max: 200, error: errorAt(faults, name) });
  const time = (name: "since" | "until", label: string) =>
    utcField({ name, label, value: asked[name], error: errorAt(faults, name) });
  return filterForm(at("/deliveries"), [
    selectField({
      name: "state",
      label: "State",
      value: asked.state,
      choices: [{ value: "", label: "all" }, ...deliveryStates],
      error: errorAt(faults, "state"),
    }),
    selectField({
      name: "endpoint",
      label: "Endpoint",
      value: asked.endpoint,
      choices: [{ value: "", label: "all" }, ...endpointChoices(names, asked.endpoint)],
      error: errorAt(faults, "endpoint"),
    }),
    text("document", "Document id"),
    text("webhook", "Webhook id"),
    time("since", "Stored from"),
    time("until", "Stored before"),
  ]);
}
