import type { MethodImpl } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import { readLanguageFilter } from "./requests.ts";

export interface GetDictionaryRevisionDeps {
  phrases: Pick<Dictionary, "revision">;
}

export function getDictionaryRevision({
  phrases,
}: GetDictionaryRevisionDeps): MethodImpl<typeof PhraseService.method.getDictionaryRevision> {
  return async ({ tenantId, language }) => {
    requireTenantId(tenantId);
    const filter = readLanguageFilter(language);
    return { revision: (await phrases.revision(tenantId)) ?? "", language: filter ?? "" };
  };
}
