import type { MethodImpl } from "@connectrpc/connect";
import { PhraseFormat, type PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import type { ExportSlots } from "../domain/export-slots.ts";
import { csvText, jsonText, type PhraseText } from "../domain/text/phrase-text.ts";
import { invalid, readLanguageFilter } from "./requests.ts";

/** Many small pieces make more garbage than a few larger ones. */
const pieceCharsMin = 128 * 1024;

export interface ListPhrasesDeps {
  phrases: Pick<Dictionary, "list">;
  exports: Pick<ExportSlots, "take">;
}

/**
 * Implements `ListPhrases`. Reads a batch after the one before was sent, so that memory stays flat.
 */
export function listPhrases({
  phrases,
  exports,
}: ListPhrasesDeps): MethodImpl<typeof PhraseService.method.listPhrases> {
  return async function* ({ tenantId, language, format }, { signal }) {
    requireTenantId(tenantId);
    const text = textOf(format);
    const filter = readLanguageFilter(language);
    using _slot = await exports.take(tenantId, signal);
    let piece = text.head;
    let lead = "";
    for await (const batch of phrases.list(tenantId, filter, signal)) {
      for (const phrase of batch) {
        piece += lead + text.write(phrase);
        lead = text.separator;
      }
      if (piece.length < pieceCharsMin) continue;
      yield { content: Buffer.from(piece) };
      piece = "";
    }
    piece += text.tail;
    if (piece !== "") yield { content: Buffer.from(piece) };
  };
}

function textOf(format: PhraseFormat): PhraseText {
  if (format === PhraseFormat.JSON) return jsonText;
  if (format === PhraseFormat.CSV) return csvText;
  throw invalid("/format", "format must be JSON or CSV");
}
