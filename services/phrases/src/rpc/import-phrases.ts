import type { MethodImpl } from "@connectrpc/connect";
import {
  type ImportPhrasesRequest,
  PhraseFormat,
  type PhraseService,
} from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError } from "@vidimus/kit/errors";
import { requireTenantId } from "@vidimus/kit/ids";
import type { Dictionary } from "../domain/dictionary.ts";
import { checkConflicts, importDrafts } from "../domain/import/import-drafts.ts";
import type { ImportQueue } from "../domain/import/import-queue.ts";
import { importBytesMax, type ImportRows } from "../domain/import/import-rows.ts";
import { parseImport } from "../domain/import/parse-import.ts";
import { readCsv } from "../domain/import/read-csv.ts";
import { readJson } from "../domain/import/read-json.ts";
import { invalid } from "./requests.ts";

export interface ImportPhrasesDeps {
  phrases: Pick<Dictionary, "find" | "change">;
  imports: Pick<ImportQueue, "run">;
  now: () => Date;
  mintId: () => string;
}

/** Implements `ImportPhrases`. */
export function importPhrases(deps: ImportPhrasesDeps): MethodImpl<typeof PhraseService.method.importPhrases> {
  return async (request, { signal }) => {
    const { tenantId, content } = request;
    requireTenantId(tenantId);
    const rows = readRows(request);
    const imported = await deps.imports.run(tenantId, content.byteLength, signal, async () => {
      const parsed = await parseImport(rows, signal);
      const stamps = { now: deps.now(), mintId: deps.mintId };
      await checkConflicts(deps.phrases, tenantId, parsed, stamps);
      await importDrafts(deps.phrases, tenantId, parsed.drafts, stamps, signal);
      return parsed.drafts.count;
    });
    return { imported };
  };
}

function readRows({ format, content }: ImportPhrasesRequest): ImportRows {
  if (content.byteLength > importBytesMax) {
    throw new DomainError("too_large", `an import has at most ${importBytesMax} bytes`);
  }
  if (format === PhraseFormat.JSON) return readJson(content);
  if (format === PhraseFormat.CSV) return readCsv(content);
  throw invalid("/format", "format must be JSON or CSV");
}
