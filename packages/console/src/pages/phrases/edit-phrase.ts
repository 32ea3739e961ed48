import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { PhraseCalls } from "../../rpc/called-methods.ts";
import { errorSummary, type Fault } from "../parts/faults.ts";
import { hidden } from "../parts/form.ts";
import { html } from "../../markup/html.ts";
import { doneNotice } from "../parts/notice.ts";
import { linkButton, pageHead } from "../parts/page-head.ts";
import { answerPage, tenantPage, type View } from "../parts/tenant-page.ts";
import { instant, timeAgo } from "../parts/times.ts";
import { phraseFieldLabels, phraseForm, type TypedPhrase, typedIn, typedOf } from "./phrase-form.ts";
import { savePhrase } from "./save-phrase.ts";
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
      aside: linkButton("Delete", at(`/phrases/${id}/delete`)),
    })}
    ${doneNotice(query, {
      added: html`The phrase is in the dictionary. ${addAnother}.`,
      saved: html`The phrase is saved. ${addAnother}.`,
    })}
    ${phraseForm({
      action: at(`/phrases/${id}`),
      typed: typedOf(stored),
      button: "Save",
      fields: hidden("read", updatedAt),
      back: at("/phrases"),
    })}`,
  };
}

/**
 * The page with what was typed and its faults. When a fault is about the whole form, the page links
 * to the stored phrase.
 */
function refusedPage(
  { at }: TenantCall,
  typed: TypedPhrase,
  { id, updatedAt }: { readonly id: string; readonly updatedAt: string },
  faults: readonly Fault[],
): View {
  const isStored = faults.some(({ field }) => field === "");
  return {
    title: "Not saved",
    main: html`${errorSummary(faults)}
    ${pageHead({
      title: "Not saved",
      above: { label: "Phrases", href: at("/phrases") },
      lead:
        isStored &&
        html`<a href="${at(`/phrases/${id}`)}" target="_blank">See the phrase as it is now</a>, in a new tab. Below
          stands what you have typed.`,
    })}
    ${phraseForm({
      action: at(`/phrases/${id}`),
      typed,
      faults,
      button: "Save",
      fields: hidden("read", updatedAt),
      back: at("/phrases"),
    })}`,
  };
}
