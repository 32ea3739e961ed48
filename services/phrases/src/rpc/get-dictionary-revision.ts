import type { MethodImpl } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { Dictionary } from "../domain/dictionary.ts";
import { readLanguageFilter, requireTenant } from "./request-fields.ts";

/** Implements `GetDictionaryRevision`. */
export function getDictionaryRevision(deps: {
  phrases: Pick<Dictionary, "revision">;
}): MethodImpl<typeof PhraseService.method.getDictionaryRevision> {
  return async ({ tenantId, language }) => {
    requireTenant(tenantId);
    const canonical = readLanguageFilter(language);
    return { revision: (await deps.phrases.revision(tenantId)) ?? "", language: canonical ?? "" };
  };
}
