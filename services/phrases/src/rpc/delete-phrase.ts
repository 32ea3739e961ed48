import type { MethodImpl } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import { deleteWithRetry } from "../domain/write-with-retry.ts";

export interface DeletePhraseDeps {
  phrases: Pick<Dictionary, "find" | "change">;
}

/** An id that is not a UUID gets NOT_FOUND. */
export function deletePhrase({ phrases }: DeletePhraseDeps): MethodImpl<typeof PhraseService.method.deletePhrase> {
  return async (request) => {
    requireTenantId(request.tenantId);
    const phraseId = parseUuid(request.phraseId);
    const deleted = phraseId !== undefined && (await deleteWithRetry(phrases, request.tenantId, phraseId));
    if (!deleted) throw new DomainError("not_found", "there is no phrase with this id");
    return { phraseId };
  };
}
