import { uuidv7 } from "@vidimus/kit/ids";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { PhraseCalls } from "../../rpc/called-methods.ts";
import { errorSummary, type Fault } from "../parts/faults.ts";
import { hidden } from "../parts/form.ts";
import { html } from "../../markup/html.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { answerPage, tenantPage, type View } from "../parts/tenant-page.ts";
import { phraseFieldLabels, phraseForm, phraseFormBytesMax, type TypedPhrase, typedIn } from "./phrase-form.ts";
import { savePhrase } from "./save-phrase.ts";

const path = "/phrases/new";
const title = "New phrase";

export function getNewPhrase(): TenantRoute {
  return tenantPage({
    path,
    right: "member",
    load: async ({ query }) => ({ ...typedIn(new URLSearchParams()), language: query.get("language") ?? "" }),
    // The id is made with the form, so that sending the form twice makes one phrase.
    view: (typed, call) => formPage(call, typed, uuidv7()),
  });
}

export function postNewPhrase({ phrases }: { readonly phrases: Pick<PhraseCalls, "upsertPhrase"> }): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "member",
    fields: phraseFieldLabels,
    formBytesMax: phraseFormBytesMax,
    handle: async (call) => {
      const typed = typedIn(call.form);
      const id = call.form.get("id") ?? "";
      const outcome = await savePhrase(phrases, call, typed, { id, updatedAt: "" });
      if ("value" in outcome) return { to: call.at(`/phrases/${outcome.value.id}?done=added`) };
      return answerPage(call, { ...formPage(call, typed, id, outcome.faults), status: 400 });
    },
  };
}

function formPage({ at }: TenantCall, typed: TypedPhrase, id: string, faults: readonly Fault[] = []): View {
  const above = { label: "Phrases", href: at("/phrases") };
  const fields = hidden("id", id);
  const actions = html`<button class="primary">Add</button> ${linkButton("Cancel", at("/phrases"))}`;
  return {
    title,
    main: html`${errorSummary(faults, phraseFieldLabels)} ${pageHead({ title, above })}
    ${phraseForm({ action: at(path), typed, faults, fields, actions })}`,
  };
}
