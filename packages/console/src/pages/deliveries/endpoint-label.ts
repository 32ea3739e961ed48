import type { EndpointNames } from "../endpoints/read-endpoint.ts";
import { type Html, html } from "../../markup/html.ts";

/**
 * The name of an endpoint; the beginning of its id when no name is known, for example because the
 * endpoint was deleted.
 */
export function endpointLabel(names: EndpointNames, endpointId: string): Html {
  const name = names.get(endpointId);
  if (name !== undefined) return html`<span dir="auto" title="${endpointId}">${name}</span>`;
  return html`<code class="q" title="${endpointId}">${endpointId.slice(0, 8)}…</code>`;
}

/** Endpoints to choose from, including the one that was chosen before, even when it was deleted. */
export function endpointChoices(names: EndpointNames, chosen: string) {
  const found = Array.from(names, ([value, label]) => ({ value, label }));
  return chosen === "" || names.has(chosen) ? found : [...found, { value: chosen, label: chosen }];
}
