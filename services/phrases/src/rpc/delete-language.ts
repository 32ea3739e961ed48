import type { MethodImpl } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import { invalid, readLanguageFilter } from "./requests.ts";

/** Most phrases that one call deletes, so that it ends before its deadline. */
const deletedMax = 50_000;

export interface DeleteLanguageDeps {
  phrases: Pick<Dictionary, "countOf" | "deleteAll" | "idsOf">;
}

export function deleteLanguage({
  phrases,
}: DeleteLanguageDeps): MethodImpl<typeof PhraseService.method.deleteLanguage> {
  return async (request, { signal }) => {
    const { tenantId, dryRun } = request;
    requireTenantId(tenantId);
    const language = readLanguageFilter(request.language);
    if (language === undefined) throw invalid("/language", "language is required");
    if (dryRun) return { deleted: await phrases.countOf(tenantId, language) };
    const ids = await phrases.idsOf(tenantId, language, deletedMax + 1);
    const deleted = await phrases.deleteAll(tenantId, ids.slice(0, deletedMax), signal);
    return { deleted, hasMore: ids.length > deletedMax };
  };
}
