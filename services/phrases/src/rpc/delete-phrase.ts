import type { MethodImpl } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid } from "@vidimus/kit/uuid";
import type { Dictionary } from "../domain/dictionary.ts";
import { remove } from "../domain/settle.ts";
import { requireTenant } from "./request-fields.ts";

/** Implements `DeletePhrase`. What is no UUID is the id of no phrase. */
export function deletePhrase(deps: {
  phrases: Pick<Dictionary, "find" | "change">;
}): MethodImpl<typeof PhraseService.method.deletePhrase> {
  return async (request) => {
    requireTenant(request.tenantId);
    const phraseId = parseUuid(request.phraseId);
    if (phraseId !== undefined && (await remove(deps.phrases, request.tenantId, phraseId))) return { phraseId };
    throw new DomainError("not_found", "there is no phrase with this id");
  };
}
