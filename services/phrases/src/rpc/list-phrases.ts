import type { MethodImpl } from "@connectrpc/connect";
import { PhraseFormat, type PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { Dictionary } from "../domain/dictionary.ts";
import { csvText, jsonText, type PhraseText } from "../domain/text/phrase-text.ts";
import { invalid, readLanguageFilter, requireTenant } from "./request-fields.ts";

/** Many small pieces leave more garbage behind them than a few larger ones. */
const pieceCharsMin = 128 * 1024;

/** Implements `ListPhrases`. Reads a batch when the one before has left for the caller, so memory stays flat. */
export function listPhrases(deps: {
  phrases: Pick<Dictionary, "list">;
}): MethodImpl<typeof PhraseService.method.listPhrases> {
  return async function* ({ tenantId, language, format }, { signal }) {
    requireTenant(tenantId);
    const text = textOf(format);
    const filter = readLanguageFilter(language);
    let piece = text.head;
    let lead = "";
    for await (const batch of deps.phrases.list(tenantId, filter, signal)) {
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
