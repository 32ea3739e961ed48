import type { TenantCall, TenantRoute } from "../../http/route.ts";
import { errorSummary, type Fault } from "../parts/faults.ts";
import { checkField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { onceField } from "../parts/take-form.ts";
import { pageHead } from "../parts/page-head.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { endpointLabels, newForm, settingFields } from "./endpoint-form.ts";

export function newEndpoint(): TenantRoute {
  return tenantPage({
    path: "/endpoints/new",
    right: "endpoints",
    recentSignIn: true,
    load: async () => newForm(),
    view: (form, call) => ({ title: "New endpoint", main: newEndpointForm(call, form) }),
  });
}

const lead = "Its secret is shown once, when it is made. What is published from then on is posted to it.";

export function newEndpointForm({ at }: TenantCall, form: URLSearchParams, faults: readonly Fault[] = []): Html {
  return html`${errorSummary(faults, endpointLabels)}
    ${pageHead({ title: "New endpoint", lead, above: { label: "Endpoints", href: at("/endpoints") } })}
    <form method="post" action="${at("/endpoints/new")}">
      ${settingFields(form, faults, "One a line, as “name: value”. They are sent with each webhook.")}
      ${checkField({
        name: "verify",
        label: "Try it",
        choices: [{ value: "yes", label: "Post a signed ping at once, and show what the receiver answers" }],
        chosen: form.getAll("verify"),
      })}
      ${onceField()}
      <div class="actions">
        <button class="primary">Register the endpoint</button>
        <a class="button" href="${at("/endpoints")}">Cancel</a>
      </div>
    </form>`;
}
