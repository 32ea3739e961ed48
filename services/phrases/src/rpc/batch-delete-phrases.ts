import type { MethodImpl } from "@connectrpc/connect";
import type { PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { parseUuid, requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import { invalid } from "./requests.ts";

const idsMax = 10_000;

export interface BatchDeletePhrasesDeps {
  phrases: Pick<Dictionary, "deleteAll">;
}

export function batchDeletePhrases({
  phrases,
}: BatchDeletePhrasesDeps): MethodImpl<typeof PhraseService.method.batchDeletePhrases> {
  return async ({ tenantId, phraseIds }, { signal }) => {
    requireTenantId(tenantId);
    if (phraseIds.length > idsMax) throw invalid("/phrase_ids", `phrase_ids must be at most ${idsMax}`);
    return { deleted: await phrases.deleteAll(tenantId, phraseIds.map(requireUuid), signal) };
  };
}

function requireUuid(text: string, position: number): string {
  const id = parseUuid(text);
  if (id === undefined) throw invalid(`/phrase_ids/${position}`, `phrase_ids/${position} must be a UUID`);
  return id;
}
