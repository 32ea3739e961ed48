import type { CreateEndpointResponse, Endpoint } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";
import { patiently } from "../../rpc/patiently.ts";
import type { MadeByForm } from "../../store/sent-form-store.ts";
import { type Fault, refusable } from "../parts/faults.ts";
import { type Html, html } from "../../markup/html.ts";
import { lookFor, sentBefore } from "../parts/sent-before.ts";
import { type SentForms, takeForm } from "../parts/take-form.ts";
import { secretPage } from "../parts/secret-page.ts";
import { answerPage } from "../parts/tenant-page.ts";
import { endpointFields, endpointFormBytesMax, endpointPointers, secretEndpointFields } from "./endpoint-form.ts";
import { newEndpointForm } from "./new-endpoint.ts";
import { pingNote } from "./ping-result.ts";
import { readSettings } from "./read-settings.ts";

export interface CreateEndpointDeps {
  readonly endpoints: Pick<EndpointCalls, "createEndpoint">;
  readonly sentForms: SentForms;
}

/** `POST /t/{tenant}/endpoints/new`: registers an endpoint, and shows its secret once. */
export function createEndpoint({ endpoints, sentForms }: CreateEndpointDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: "/endpoints/new",
    right: "endpoints",
    recentSignIn: true,
    fields: endpointFields,
    secretFields: secretEndpointFields,
    formBytesMax: endpointFormBytesMax,
    handle: async (call) => {
      const settings = readSettings(call.form);
      if ("faults" in settings) return formAgain(call, settings.faults);
      const request = {
        tenantId: call.tenant.tenantId,
        ...settings.value,
        verify: call.form.get("verify") === "yes",
      };
      const taken = await takeForm(sentForms, call);
      if ("before" in taken) return madeBefore(call, taken.before);
      const making = endpoints.createEndpoint(request, patiently(taken.rpc));
      const made = await refusable(taken.settle(making, madeEndpoint(call)), endpointPointers);
      if ("faults" in made) return formAgain(call, made.faults);
      return answerPage(call, madePage(call, made.value));
    },
  };
}

function formAgain(call: TenantCall, faults: readonly Fault[]) {
  return answerPage(call, { title: "New endpoint", main: newEndpointForm(call, call.form, faults), status: 400 });
}

export function secretUse({ at }: TenantCall): Html {
  return html`<p class="q">
    With it the receiver checks <code>webhook-signature</code>, as Standard Webhooks describes it: <code>v1,</code> and
    the Base64 of HMAC-SHA256 over <code>webhook-id.webhook-timestamp.body</code>. The key is what follows
    <code>whsec_</code>, decoded from Base64.
    <a href="${at("/trust-list/verify")}" target="_blank">Check a webhook that was received</a>, in a new tab.
  </p>`;
}

function madePage(call: TenantCall, { endpoint, secret, ping }: CreateEndpointResponse) {
  const title = html`“<bdi>${endpoint?.name ?? ""}</bdi>” is registered`;
  const next = call.at(`/endpoints/${endpoint?.endpointId ?? ""}?done=stored`);
  const about = html`${pingNote(ping)}
    <p>It gets what is published or withdrawn from now on.</p>`;
  return {
    title: "Endpoint is registered",
    main: secretPage({ title, secret, label: "Secret", subject: "Its secret", use: secretUse(call), about, next }),
  };
}

/** What `settle` keeps of a made endpoint: its name, and the page that rotates an unseen secret. */
export function madeEndpoint({ at }: TenantCall) {
  return ({ endpoint }: { readonly endpoint?: Endpoint | undefined }) => ({
    name: endpoint?.name ?? "",
    path: at(`/endpoints/${endpoint?.endpointId ?? ""}/rotate`),
  });
}

function madeBefore(call: TenantCall, made: MadeByForm | undefined) {
  const list = { label: "To the endpoints", href: call.at("/endpoints") };
  return sentBefore(call, made, { advice: lookFor("endpoint"), replace: "Rotate its secret", list });
}
