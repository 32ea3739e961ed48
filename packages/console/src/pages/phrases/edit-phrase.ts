import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { PhraseCalls } from "../../rpc/called-methods.ts";
import { errorSummary, type Fault } from "../parts/faults.ts";
import { hidden } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { doneNotice } from "../parts/notice.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { answerPage, tenantPage, type View } from "../parts/tenant-page.ts";
import { instant, timeAgo } from "../parts/times.ts";
import {
  phraseFieldLabels,
  phraseForm,
  phraseFormBytesMax,
  type TypedPhrase,
  typedIn,
  typedOf,
} from "./phrase-form.ts";
import { changedMeanwhile, savePhrase } from "./save-phrase.ts";
import { readPhrase, type StoredPhrase } from "./stored-phrase.ts";

const path = "/phrases/:phrase";

/** The phrase that the URL names. NOT_FOUND when the tenant has no such phrase. */
export async function phraseOf(
  phrases: Pick<PhraseCalls, "getPhrase">,
  { tenant: { tenantId }, params, rpc }: TenantCall,
): Promise<StoredPhrase> {
  const { phraseJson } = await phrases.getPhrase({ tenantId, phraseId: params["phrase"] ?? "" }, rpc);
  return readPhrase(phraseJson);
}

export function getPhrase({ phrases }: { readonly phrases: Pick<PhraseCalls, "getPhrase"> }): TenantRoute {
  return tenantPage({
    path,
    right: "member",
    load: (call) => phraseOf(phrases, call),
    view: (stored, call) => storedPage(stored, call),
  });
}

export function postPhrase({ phrases }: { readonly phrases: Pick<PhraseCalls, "upsertPhrase"> }): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "member",
    fields: phraseFieldLabels,
    formBytesMax: phraseFormBytesMax,
    handle: async (call) => {
      const typed = typedIn(call.form);
      const read = { id: call.params["phrase"] ?? "", updatedAt: call.form.get("read") || "unknown" };
      const outcome = await savePhrase(phrases, call, typed, read);
      if ("value" in outcome) return { to: call.at(`/phrases/${outcome.value.id}?done=saved`) };
      return answerPage(call, { ...refusedPage(call, typed, read, outcome.faults), status: 400 });
    },
  };
}

function storedPage(stored: StoredPhrase, { at, query, now }: TenantCall): View {
  const { id, phrase, language, createdAt, updatedAt } = stored;
  const another = at(`/phrases/new?${new URLSearchParams({ language })}`);
  const addAnother = html`<a href="${another}">Add another</a>`;
  return {
    title: phrase,
    main: html`${pageHead({
      title: phrase,
      above: { label: "Phrases", href: at("/phrases") },
      lead: html`Added ${instant(new Date(createdAt))}, changed ${timeAgo(new Date(updatedAt), now)}.`,
    })}
    ${doneNotice(query, {
      added: html`The phrase is in the dictionary. ${addAnother}.`,
      saved: html`The phrase is saved. ${addAnother}.`,
    })}
    ${phraseForm({
      action: at(`/phrases/${id}`),
      typed: typedOf(stored),
      fields: hidden("read", updatedAt),
      actions: html`${saveActions(at)} <a class="button danger" href="${at(`/phrases/${id}/delete`)}">Delete</a>`,
    })}`,
  };
}

function saveActions(at: TenantCall["at"]): Html {
  return html`<button class="primary">Save</button> ${linkButton("Cancel", at("/phrases"))}`;
}

/**
 * After a change by somebody else, saving again could only fail or lose that change, so the page
 * offers to edit the stored phrase instead.
 */
function refusedPage(
  { at }: TenantCall,
  typed: TypedPhrase,
  { id, updatedAt }: { readonly id: string; readonly updatedAt: string },
  faults: readonly Fault[],
): View {
  const isOutdated = faults.some(({ error }) => error === changedMeanwhile);
  const editStored = html`<a class="button primary" href="${at(`/phrases/${id}`)}" target="_blank"
      >Edit the phrase as it is now</a
    >
    ${linkButton("Cancel", at("/phrases"))}`;
  return {
    title: "Not saved",
    main: html`${errorSummary(faults, phraseFieldLabels)}
    ${pageHead({
      title: "Not saved",
      above: { label: "Phrases", href: at("/phrases") },
      lead:
        isOutdated &&
        "Below stands what you have typed. The button below it opens the phrase as it is now, in a new tab: copy over what you need.",
    })}
    ${phraseForm({
      action: at(`/phrases/${id}`),
      typed,
      faults,
      fields: hidden("read", updatedAt),
      actions: isOutdated ? editStored : saveActions(at),
    })}`,
  };
}
