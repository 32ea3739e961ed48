import type { Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";
import { errorSummary, type Fault, refusable } from "../parts/faults.ts";
import { checkField, hidden } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { pageHead } from "../parts/page-head.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import {
  endpointFields,
  endpointFormBytesMax,
  endpointLabels,
  endpointPointers,
  formOf,
  secretEndpointFields,
  settingFields,
} from "./endpoint-form.ts";
import { readEndpoint } from "./read-endpoint.ts";
import { differences, readSettings, type Settings } from "./read-settings.ts";

const path = "/endpoints/:endpoint/edit";

export function editEndpoint({ endpoints }: { readonly endpoints: Pick<EndpointCalls, "getEndpoint"> }): TenantRoute {
  return tenantPage({
    path,
    right: "endpoints",
    load: (call) => readEndpoint(endpoints, call),
    view: (endpoint, call) => ({ title: "Edit an endpoint", main: editForm(endpoint, call, openedForm(endpoint)) }),
  });
}

export function updateEndpoint({
  endpoints,
}: {
  readonly endpoints: Pick<EndpointCalls, "getEndpoint" | "updateEndpoint">;
}): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "endpoints",
    fields: { ...endpointFields, [openedField]: "", "no-headers": "Headers no longer sent" },
    secretFields: secretEndpointFields,
    formBytesMax: endpointFormBytesMax,
    handle: async (call) => {
      const { form, params, tenant, rpc, at } = call;
      const endpointId = params["endpoint"] ?? "";
      const settings = readSettings(form);
      if ("faults" in settings) return formAgain(call, await readEndpoint(endpoints, call), settings.faults);
      const endpoint = meanwhile(readEndpoint(endpoints, call));
      const request = { tenantId: tenant.tenantId, endpointId, ...changesOf(settings.value, form) };
      const changed = await refusable(endpoints.updateEndpoint(request, rpc), endpointPointers);
      if ("faults" in changed) return formAgain(call, await endpoint, changed.faults);
      return { to: at(`/endpoints/${endpointId}?done=changed`) };
    },
  };
}

/**
 * Hidden field with the form as it was when it was opened. Without this field all settings count as
 * changed.
 */
const openedField = "opened";

function openedForm(endpoint: Endpoint): URLSearchParams {
  const form = formOf(endpoint);
  form.append(openedField, form.toString());
  return form;
}

/**
 * The settings that were changed since the form was opened, so that what another person has changed
 * meanwhile stays. An empty name becomes the URL's host, because an endpoint always has a name.
 */
function changesOf(settings: Settings, form: URLSearchParams) {
  const name = settings.name === "" ? hostOf(settings.url) : settings.name;
  const opened = readSettings(new URLSearchParams(form.get(openedField) ?? ""));
  const named = { ...settings, name };
  const changes = "faults" in opened ? named : differences(named, opened.value);
  return { ...changes, ...(form.get("no-headers") === "yes" ? { headers: { values: {} } } : {}) };
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "";
}

function formAgain(call: TenantCall, endpoint: Endpoint, faults: readonly Fault[]) {
  const main = editForm(endpoint, call, call.form, faults);
  return answerPage(call, { title: "Edit an endpoint", main, status: 400 });
}

function editForm(
  { endpointId, name, headerNames }: Endpoint,
  { at }: TenantCall,
  form: URLSearchParams,
  faults: readonly Fault[] = [],
): Html {
  const here = at(`/endpoints/${endpointId}`);
  const given = headerNames.length > 0 && `It has ${headerNames.join(", ")}; their values are not shown. `;
  return html`${errorSummary(faults, endpointLabels)}
    ${pageHead({ title: html`Edit “<bdi>${name}</bdi>”`, above: { label: "Endpoints", href: at("/endpoints") } })}
    <form method="post" action="${here}/edit">
      ${hidden(openedField, form.get(openedField) ?? "")}
      ${settingFields(form, faults, `${given || ""}One a line, as “name: value”. Empty: they stay as they are.`)}
      ${
        headerNames.length > 0 &&
        checkField({
          name: "no-headers",
          label: "Headers",
          choices: [{ value: "yes", label: `Send none of ${headerNames.join(", ")} any more` }],
          chosen: form.getAll("no-headers"),
        })
      }
      <div class="actions">
        <button class="primary">Save</button>
        <a class="button" href="${here}">Cancel</a>
      </div>
    </form>`;
}
