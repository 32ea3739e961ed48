import { durationFromMs, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Endpoint, RotateEndpointSecretResponse } from "@vidimus/contracts/vidimus/delivery/v1/endpoint_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { EndpointCalls } from "../../rpc/called-methods.ts";
import { confirmPage } from "../parts/confirm.ts";
import { errorAt, errorSummary, type Fault, refusable } from "../parts/faults.ts";
import { radioField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { sentBefore } from "../parts/sent-before.ts";
import { onceField, type SentForms, takeForm } from "../parts/take-form.ts";
import { secretPage } from "../parts/secret-page.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import { instant } from "../parts/times.ts";
import { madeEndpoint, secretUse } from "./create-endpoint.ts";
import { readEndpoint } from "./read-endpoint.ts";

interface RotateSecretDeps {
  readonly endpoints: Pick<EndpointCalls, "getEndpoint" | "rotateEndpointSecret">;
  readonly sentForms: SentForms;
}

const path = "/endpoints/:endpoint/rotate";
const hourMs = 3_600_000;
const overlaps = [
  { value: "1h", ms: hourMs, label: "1 hour" },
  { value: "24h", ms: 24 * hourMs, label: "24 hours" },
  { value: "7d", ms: 168 * hourMs, label: "7 days" },
  {
    value: "0",
    ms: 0,
    label: "Not at all",
    hint: "For a secret that leaked. Until the receiver has the new one it refuses what arrives, which is then repeated.",
  },
] as const;

export function askToRotateSecret({ endpoints }: Pick<RotateSecretDeps, "endpoints">): TenantRoute {
  return tenantPage({
    path,
    right: "endpoints",
    recentSignIn: true,
    load: (call) => readEndpoint(endpoints, call),
    view: (endpoint, call) => ({ title: "Rotate a secret", main: rotateForm(endpoint, call) }),
  });
}

/** `POST /t/{tenant}/endpoints/{endpoint}/rotate`: makes a new secret, and shows it once. */
export function rotateSecret({ endpoints, sentForms }: RotateSecretDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "endpoints",
    recentSignIn: true,
    fields: { overlap: "Overlap" },
    handle: async (call) => {
      const overlap = overlaps.find(({ value }) => value === call.form.get("overlap"));
      if (!overlap) return formAgain(call, await readEndpoint(endpoints, call), [chooseOverlap]);
      const endpointId = call.params["endpoint"] ?? "";
      const request = { tenantId: call.tenant.tenantId, endpointId, overlap: durationFromMs(overlap.ms) };
      const taken = await takeForm(sentForms, call);
      if ("before" in taken) {
        const list = { label: "To the endpoint", href: call.at(`/endpoints/${endpointId}`) };
        const advice = "If you have not seen a new secret, rotate it again.";
        return sentBefore(call, taken.before, { advice, replace: "Rotate its secret again", list });
      }
      const endpoint = meanwhile(readEndpoint(endpoints, call));
      const rotated = await refusable(
        taken.settle(endpoints.rotateEndpointSecret(request, taken.rpc), madeEndpoint(call)),
      );
      if ("faults" in rotated) return formAgain(call, await endpoint, rotated.faults);
      return answerPage(call, rotatedPage(call, rotated.value));
    },
  };
}

const chooseOverlap = { field: "overlap", error: "Choose how long webhooks are signed with the old secret, too." };

function formAgain(call: TenantCall, endpoint: Endpoint, faults: readonly Fault[]) {
  return answerPage(call, { title: "Rotate a secret", main: rotateForm(endpoint, call, faults), status: 400 });
}

function rotatedPage(call: TenantCall, { endpoint, secret }: RotateEndpointSecretResponse) {
  const endsAt = endpoint?.previousSecretEndsAt;
  const about = endsAt
    ? html`<p>
        Until ${instant(timestampDate(endsAt))} webhooks are signed with both secrets. Give the receiver the new one
        before.
      </p>`
    : html`<p>Webhooks are signed with the new secret alone.</p>`;
  return {
    title: "Secret is rotated",
    main: secretPage({
      title: html`“<bdi>${endpoint?.name ?? ""}</bdi>” has a new secret`,
      secret,
      label: "Secret",
      subject: "The new secret",
      use: secretUse(call),
      about,
      next: call.at(`/endpoints/${endpoint?.endpointId ?? ""}?done=stored`),
    }),
  };
}

function rotateForm({ endpointId, name }: Endpoint, { at, form }: TenantCall, faults: readonly Fault[] = []): Html {
  return confirmPage({
    errors: errorSummary(faults),
    title: html`Rotate the secret of “<bdi>${name}</bdi>”?`,
    consequence: "A new secret takes the place of the old one. It is shown once.",
    action: at(`/endpoints/${endpointId}/rotate`),
    fields: html`${radioField({
      name: "overlap",
      label: "How long are webhooks signed with the old secret, too?",
      choices: overlaps,
      chosen: [form.get("overlap") ?? "24h"],
      error: errorAt(faults, "overlap"),
    })}
    ${onceField()}`,
    button: "Rotate the secret",
    back: at(`/endpoints/${endpointId}`),
  });
}
