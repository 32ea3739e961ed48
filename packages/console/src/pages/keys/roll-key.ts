import { durationFromMs, timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@vidimus/contracts/vidimus/access/v1/access_service";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { AccessCalls } from "../../rpc/called-methods.ts";
import { confirmPage } from "../parts/confirm.ts";
import { errorAt, errorSummary, type Fault, refusable } from "../parts/faults.ts";
import { radioField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { meanwhile } from "../parts/meanwhile.ts";
import { onceField, type SentForms, takeForm } from "../parts/take-form.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import { instant } from "../parts/times.ts";
import { madeBefore, madeKey } from "./create-key.ts";
import { madePage } from "./made-page.ts";
import { readKey } from "./show-key.ts";

interface RollKeyDeps {
  readonly access: Pick<AccessCalls, "getApiKey" | "rollApiKey">;
  readonly sentForms: SentForms;
  readonly apiOrigin: URL;
}

const path = "/keys/:key/roll";
const hourMs = 3_600_000;
const overlaps = [
  { value: "1h", ms: hourMs, label: "1 hour" },
  { value: "24h", ms: 24 * hourMs, label: "24 hours" },
  { value: "7d", ms: 168 * hourMs, label: "7 days" },
  {
    value: "0",
    ms: 0,
    label: "Not at all",
    hint: "For a secret that leaked. Programs with the old key are refused at once.",
  },
] as const;

export function askToRollKey({ access }: RollKeyDeps): TenantRoute {
  return tenantPage({
    path,
    right: "keys",
    recentSignIn: true,
    load: (call) => readKey(access, call),
    view: (key, call) => ({ title: "Roll a key", main: rollForm(key, call) }),
  });
}

/** `POST /t/{tenant}/keys/{key}/roll`: replaces a key, and shows the new secret once. */
export function rollKey({ access, sentForms, apiOrigin }: RollKeyDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "keys",
    recentSignIn: true,
    fields: { overlap: "Overlap" },
    handle: async (call) => {
      const overlap = overlaps.find(({ value }) => value === call.form.get("overlap"));
      if (!overlap) return formAgain(call, await readKey(access, call), [chooseOverlap]);
      const keyId = call.params["key"] ?? "";
      const request = { tenantId: call.tenant.tenantId, keyId, overlap: durationFromMs(overlap.ms) };
      const taken = await takeForm(sentForms, call);
      if ("before" in taken) return madeBefore(call, taken.before);
      const key = meanwhile(readKey(access, call));
      const rolled = await refusable(taken.settle(access.rollApiKey(request, taken.rpc), madeKey(call)));
      if ("faults" in rolled) return formAgain(call, await key, rolled.faults);
      const { replaced, ...made } = rolled.value;
      const more = replaced && oldKey(replaced);
      return answerPage(call, madePage(call, { ...made, apiOrigin, what: "has a new key", more }));
    },
  };
}

function oldKey({ revokedAt, expiresAt }: ApiKey): Html {
  if (revokedAt || !expiresAt) return html`<p>The old key opens nothing any more.</p>`;
  return html`<p>
    The old key works until ${instant(timestampDate(expiresAt))}. Give the program the new one before.
  </p>`;
}

const chooseOverlap = { field: "overlap", error: "Choose how long the old key holds." };

function formAgain(call: TenantCall, key: ApiKey, faults: readonly Fault[]) {
  return answerPage(call, { title: "Roll a key", main: rollForm(key, call, faults), status: 400 });
}

function rollForm(key: ApiKey, { at, form }: TenantCall, faults: readonly Fault[] = []): Html {
  return confirmPage({
    errors: errorSummary(faults),
    title: html`Roll “<bdi>${key.name}</bdi>”?`,
    consequence: "A new key with the same name, scopes and lifetime takes its place. Its secret is shown once.",
    action: at(`/keys/${key.keyId}/roll`),
    fields: html`${radioField({
      name: "overlap",
      label: "How long does the old key still work?",
      choices: overlaps,
      chosen: [form.get("overlap") ?? "24h"],
      error: errorAt(faults, "overlap"),
    })}
    ${onceField()}`,
    button: "Roll the key",
    back: at(`/keys/${key.keyId}`),
  });
}
