import type { MethodImpl } from "@connectrpc/connect";
import { PhraseFormat, type PhraseService } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { freeBuffer } from "@vidimus/kit/tuning/free-buffer";
import { requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import type { ExportSlots } from "../domain/export-slots.ts";
import type { ExportTurns } from "../domain/export-turns.ts";
import { PhrasePieces } from "../domain/text/phrase-pieces.ts";
import { csvText, jsonText, type PhraseText } from "../domain/text/phrase-text.ts";
import { asksForPage, readPhrasePage } from "./phrase-page.ts";
import { invalid, readLanguageFilter } from "./requests.ts";

export interface ListPhrasesDeps {
  phrases: Pick<Dictionary, "page" | "snapshot">;
  exports: Pick<ExportSlots, "take">;
  exportTurns: Pick<ExportTurns, "run">;
}

/**
 * A stream fetches the next batch only when less text than one piece is still to be sent, so that
 * memory use stays constant.
 */
export function listPhrases({
  phrases,
  exports,
  exportTurns,
}: ListPhrasesDeps): MethodImpl<typeof PhraseService.method.listPhrases> {
  return async function* (request, { signal }) {
    const { tenantId, language, format } = request;
    requireTenantId(tenantId);
    const text = textOf(format);
    if (asksForPage(request)) {
      yield await readPhrasePage(phrases, request, text);
      return;
    }
    const filter = readLanguageFilter(language);
    using _slot = await exports.take(tenantId, signal);
    await using snapshot = await phrases.snapshot(tenantId, filter, signal);
    const pieces = new PhrasePieces(text, snapshot.batches);
    const revision = snapshot.revision ?? "";
    while (!pieces.hasEnded) {
      await exportTurns.run(tenantId, signal, () => pieces.extend());
      const content = pieces.take();
      if (!content) continue;
      yield { content, revision };
      // The piece was sent. V8 would free its memory only when it collects its old objects.
      freeBuffer(content);
    }
  };
}

function textOf(format: PhraseFormat): PhraseText {
  if (format === PhraseFormat.JSON) return jsonText;
  if (format === PhraseFormat.CSV) return csvText;
  throw invalid("/format", "format must be JSON or CSV");
}
