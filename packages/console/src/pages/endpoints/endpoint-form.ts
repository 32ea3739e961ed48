import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import { errorAt, type Fault } from "../parts/faults.ts";
import { areaField, checkField, textField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";

/**
 * From field name to label; see `fields` of a route. Without the headers, which may be credentials.
 */
export const endpointFields = {
  url: "URL",
  name: "Name",
  description: "Description",
  events: "It is told when",
  types: "Document types",
  rate: "Most webhooks a second",
  parallel: "Most webhooks at once",
  verify: "Ping",
};

/** See `secretFields` of a route. */
export const secretEndpointFields = { headers: "Headers of its own" };

export const endpointLabels = { ...endpointFields, ...secretEndpointFields };

/**
 * Largest form of an endpoint, in bytes. The largest that delivery takes has 181,000: 50,000 are
 * headers, and 74,000 the settings with which the form was opened, which are percent-encoded twice.
 */
export const endpointFormBytesMax = 192 * 1024;

/**
 * From the JSON pointer to a field of the request, which delivery may refuse, to the name of the
 * form's field.
 */
export const endpointPointers = {
  "/url": "url",
  "/name": "name",
  "/description": "description",
  "/events": "events",
  "/documentTypes": "types",
  "/headers": "headers",
  "/ratePerSecond": "rate",
  "/maxInFlight": "parallel",
};

const events = [
  { value: "snapshot.usable", label: "a document is published", hint: "snapshot.usable" },
  { value: "snapshot.withheld", label: "a document is withdrawn", hint: "snapshot.withheld" },
  { value: "endpoint.disabled", label: "another endpoint was paused or switched off", hint: "endpoint.disabled" },
  { value: "endpoint.expiring", label: "what another endpoint was to get is given up soon", hint: "endpoint.expiring" },
  { value: "endpoint.recovered", label: "another endpoint accepts again", hint: "endpoint.recovered" },
];

/** Without the headers, because their values are never shown. */
export function formOf(endpoint: Endpoint): URLSearchParams {
  const { url, name, description, documentTypes, ratePerSecond, maxInFlight } = endpoint;
  const form = new URLSearchParams({ url, name, description, types: documentTypes.join(", ") });
  for (const event of endpoint.events) form.append("events", event);
  if (ratePerSecond > 0) form.set("rate", String(ratePerSecond));
  form.set("parallel", String(maxInFlight));
  return form;
}

export function newForm(): URLSearchParams {
  return new URLSearchParams([
    ["events", "snapshot.usable"],
    ["events", "snapshot.withheld"],
    ["verify", "yes"],
  ]);
}

export function settingFields(form: URLSearchParams, faults: readonly Fault[], headersHint: string): Html {
  const field = (name: string) => ({ name, value: form.get(name) ?? "", error: errorAt(faults, name) });
  return html`${textField({ ...field("url"), label: "URL", hint: "Where webhooks are posted to.", type: "url" })}
    ${textField({
      ...field("name"),
      label: "Name (optional)",
      hint: "For people. Without one it is the host of the URL.",
      isOptional: true,
      max: 200,
    })}
    ${checkField({
      name: "events",
      label: "It is told when",
      choices: events,
      chosen: form.getAll("events"),
      error: errorAt(faults, "events"),
    })}
    <details ${hasMore(form, faults) && html`open`}>
      <summary>Types, headers and limits</summary>
      ${textField({
        ...field("types"),
        label: "Document types (optional)",
        hint: "By commas, such as core/article. Without any it gets all types.",
        isOptional: true,
      })}
      ${areaField({ ...field("headers"), label: "Headers of its own (optional)", hint: headersHint, rows: 3 })}
      ${textField({
        ...field("rate"),
        label: "Most webhooks a second (optional)",
        hint: "0.1 to 1,000. Without it there is no limit.",
        isOptional: true,
      })}
      ${textField({
        ...field("parallel"),
        label: "Most webhooks at once (optional)",
        hint: "1 to 128, 32 without it.",
        isOptional: true,
      })}
      ${areaField({ ...field("description"), label: "Description (optional)", rows: 2 })}
    </details>`;
}

/**
 * Whether to unfold the rest of the form: one of its fields has a value or a fault. A value of
 * `parallel` does not count, because every stored endpoint has one.
 */
function hasMore(form: URLSearchParams, faults: readonly Fault[]): boolean {
  const names = ["types", "headers", "rate", "description"];
  return names.some((name) => form.get(name)) || faults.some(({ field }) => [...names, "parallel"].includes(field));
}
