import type { TenantRoute } from "../../http/route.ts";
import type { PhraseCalls } from "../../rpc/called-methods.ts";
import { unlessNotFound } from "../../rpc/unless-not-found.ts";
import { confirmPage } from "../parts/confirm.ts";
import { html } from "../../markup/html.ts";
import { tenantPage } from "../parts/tenant-page.ts";
import { phraseOf } from "./edit-phrase.ts";

const path = "/phrases/:phrase/delete";

export function getDeletePhrase({ phrases }: { readonly phrases: Pick<PhraseCalls, "getPhrase"> }): TenantRoute {
  return tenantPage({
    path,
    right: "member",
    load: (call) => phraseOf(phrases, call),
    view: ({ id, phrase, language }, { at }) => ({
      title: "Delete a phrase",
      main: confirmPage({
        title: html`Delete “<bdi>${phrase}</bdi>”?`,
        consequence: html`The phrase, language <code>${language}</code>, is gone then, with its mistakes and its
          description. It can be added again only by hand.`,
        action: at(`/phrases/${id}/delete`),
        button: "Delete",
        isDanger: true,
        back: at(`/phrases/${id}`),
      }),
    }),
  });
}

/** A second POST is answered as the first: a phrase that is not found counts as deleted. */
export function postDeletePhrase({ phrases }: { readonly phrases: Pick<PhraseCalls, "deletePhrase"> }): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path,
    right: "member",
    handle: async ({ tenant: { tenantId }, params, rpc, at }) => {
      await unlessNotFound(phrases.deletePhrase({ tenantId, phraseId: params["phrase"] ?? "" }, rpc));
      return { to: at("/phrases?done=deleted") };
    },
  };
}
