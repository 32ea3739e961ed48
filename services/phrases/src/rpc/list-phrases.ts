import type { MethodImpl } from "@connectrpc/connect";
import { PhraseFormat, type PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { Dictionary } from "../domain/dictionary.ts";
import { csvText, jsonText, type PhraseText } from "../domain/text/phrase-text.ts";
import { invalid, readLanguageFilter, requireTenant } from "./request-fields.ts";

/** Implements `ListPhrases`. Reads a batch when the one before has left for the caller, so memory stays flat. */
export function listPhrases(deps: {
  phrases: Pick<Dictionary, "list">;
}): MethodImpl<typeof PhraseService.method.listPhrases> {
  return async function* ({ tenantId, language, format }, { signal }) {
    requireTenant(tenantId);
    const text = textOf(format);
    const filter = readLanguageFilter(language);
    let lead = text.head;
    for await (const batch of deps.phrases.list(tenantId, filter, signal)) {
      yield { content: Buffer.from(lead + Array.from(batch, text.write).join(text.separator)) };
      lead = text.separator;
    }
    const end = (lead === text.head ? text.head : "") + text.tail;
    if (end !== "") yield { content: Buffer.from(end) };
  };
}

function textOf(format: PhraseFormat): PhraseText {
  if (format === PhraseFormat.JSON) return jsonText;
  if (format === PhraseFormat.CSV) return csvText;
  throw invalid("/format", "format must be JSON or CSV");
}
