import type { MethodImpl } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError } from "@vidimus/kit/errors";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import { jsonText } from "../domain/text/phrase-text.ts";

export interface GetPhraseDeps {
  phrases: Pick<Dictionary, "find">;
}

/** An id that is not a UUID gets NOT_FOUND. */
export function getPhrase({ phrases }: GetPhraseDeps): MethodImpl<typeof PhraseService.method.getPhrase> {
  return async (request) => {
    requireTenantId(request.tenantId);
    const id = parseUuid(request.phraseId);
    const [phrase] = id === undefined ? [] : await phrases.find(request.tenantId, { ids: [id], keys: [] });
    if (!phrase) throw new DomainError("not_found", "there is no phrase with this id");
    return { phraseJson: Buffer.from(jsonText.write(phrase)) };
  };
}
