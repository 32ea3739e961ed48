import type { MethodImpl } from "@connectrpc/connect";
import {
  type ImportPhrasesRequest,
  PhraseFormat,
  type PhraseService,
} from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import { importDrafts, previewImport } from "../domain/import/import-drafts.ts";
import type { ImportQueue } from "../domain/import/import-queue.ts";
import { importBytesMax, type ImportRows } from "../domain/import/import-rows.ts";
import { parseImport } from "../domain/import/parse-import.ts";
import { readCsv } from "../domain/import/read-csv.ts";
import { readJson } from "../domain/import/read-json.ts";
import { invalid, readLanguageFilter } from "./requests.ts";

export interface ImportPhrasesDeps {
  phrases: Pick<Dictionary, "find" | "change">;
  imports: Pick<ImportQueue, "run">;
  now: () => Date;
  mintId: () => string;
}

/** Frees the file as soon as it is parsed or refused. */
export function importPhrases(deps: ImportPhrasesDeps): MethodImpl<typeof PhraseService.method.importPhrases> {
  return async (request, { signal }) => {
    const { tenantId } = request;
    requireTenantId(tenantId);
    const language = readLanguageFilter(request.language);
    using file = takeFile(request);
    const read = readerOf(request.format, file.content);
    // `await` is needed because `file` is freed when this function returns.
    return await deps.imports.run(tenantId, file.content.byteLength, signal, async () => {
      const parsed = await parseImport(read(file.content), language, signal);
      file[Symbol.dispose]();
      const stamps = { now: deps.now(), mintId: deps.mintId };
      const preview = () => previewImport(deps.phrases, tenantId, parsed, stamps, signal);
      // The preview refuses rows whose id is one phrase's and whose language and text are
      // another's, before anything is written. A row without an id cannot be such a row.
      if (!request.dryRun && parsed.drafts.withIds) await preview();
      const write = () => importDrafts(deps.phrases, tenantId, parsed.drafts, stamps, signal);
      const tally = await (request.dryRun ? preview() : write());
      const phraseIds = request.withIds ? [...tally.ids] : [];
      return { imported: parsed.drafts.count, ...tally.counts(), phraseIds };
    });
  };
}

function readerOf(format: PhraseFormat, content: Uint8Array): (content: Uint8Array) => ImportRows {
  if (content.byteLength > importBytesMax) {
    throw new DomainError("too_large", `an import has at most ${importBytesMax} bytes`);
  }
  if (format === PhraseFormat.JSON) return readJson;
  if (format === PhraseFormat.CSV) return readCsv;
  throw invalid("/format", "format must be JSON or CSV");
}

/** A smaller message may share Node's pool of buffers with other data, so it must not be freed. */
const ownBytesMin = 64 * 1024;

/**
 * Takes the file out of the request, which lives until the call has ended. Disposal frees the
 * memory of the message, which V8 would keep until it collects its old objects.
 */
function takeFile(request: ImportPhrasesRequest): Disposable & { content: Uint8Array } {
  const { content } = request;
  request.content = new Uint8Array();
  return {
    content,
    [Symbol.dispose]() {
      if (content.byteLength >= ownBytesMin && content.buffer instanceof ArrayBuffer) content.buffer.transfer(0);
    },
  };
}
