import type { MethodImpl } from "@connectrpc/connect";
import {
  type ImportPhrasesRequest,
  PhraseFormat,
  type PhraseService,
} from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { DomainError } from "@vidimus/kit/errors";
import type { Dictionary } from "../domain/dictionary.ts";
import { importPhrases as importDrafts, refuseConflicts } from "../domain/import/import-phrases.ts";
import { importBytesMax, type ImportRows } from "../domain/import/import-rows.ts";
import { parseImport } from "../domain/import/parse-import.ts";
import { readCsv } from "../domain/import/read-csv.ts";
import { readJson } from "../domain/import/read-json.ts";
import { invalid, requireTenant } from "./request-fields.ts";

/** Implements `ImportPhrases`. */
export function importPhrases(deps: {
  phrases: Pick<Dictionary, "find" | "change">;
  now: () => Date;
  mintId: () => string;
}): MethodImpl<typeof PhraseService.method.importPhrases> {
  return async (request, { signal }) => {
    const { tenantId, validateOnly } = request;
    requireTenant(tenantId);
    const rows = readRows(request);
    const drafts = await parseImport(rows);
    const stamps = { now: deps.now(), mintId: deps.mintId };
    await refuseConflicts(deps.phrases, tenantId, rows, drafts, stamps);
    if (!validateOnly) await importDrafts(deps.phrases, tenantId, drafts, stamps, signal);
    return { imported: drafts.length };
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
