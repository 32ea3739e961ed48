import { type ImportPhrasesResponse, PhraseFormat } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import { asDomainError } from "@vidimus/kit/rpc/errors/error-table";
import type { Answer } from "../../http/answer.ts";
import type { TenantCall, TenantRoute } from "../../http/route.ts";
import type { PhraseCalls } from "../../rpc/called-methods.ts";
import { answerPage, tenantPage } from "../parts/tenant-page.ts";
import { importPage } from "./import-page.ts";
import { type ImportRefusal, importRefusal } from "./import-refusal.ts";

interface ImportDeps {
  readonly phrases: Pick<PhraseCalls, "importPhrases">;
}

const filePath = "/phrases/import";
const textPath = "/phrases/import/text";
/** Limits of the form with a file: of the file, and of each text field. */
const fileBytesMax = 10 * 1024 * 1024;
const textBytesMax = 1024;
/** Largest form of pasted rows, in bytes. Percent-encoding makes up to three bytes of one. */
const pastedBytesMax = 256 * 1024;
/** Enough for 50,000 rows on a slow machine. Imports over the public API have the same deadline. */
const timeoutMs = 50_000;

export function getImport(): TenantRoute {
  return tenantPage({
    path: filePath,
    right: "member",
    load: async () => ({}),
    view: (shown, call) => importPage(call, shown),
  });
}

export function postImportFile({ phrases }: ImportDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: filePath,
    right: "member",
    isUpload: true,
    handle: async (call) => {
      const take = call.withUpload({ fileBytesMax, textBytesMax }, async ({ form, files }) => {
        const file = files.get("file");
        if (!file) return refused(call, { summary: "Choose a file first.", faults: [] });
        const { outcome, isCheck } = await importRows(phrases, call, file.bytes, form);
        // A small file is shown, so that it can be corrected, or imported after a check, on the
        // page.
        const text = file.bytes.length <= shownBytesMax ? file.bytes.toString() : "";
        return answerOutcome(call, outcome, { isCheck, fileName: file.name, text });
      });
      return take.catch((error: unknown) => {
        const known = asDomainError(error);
        if (known?.kind !== "too_large") throw error;
        return refused(call, { summary: `Nothing was imported: ${known.message}.`, faults: [] }, 413);
      });
    },
  };
}

/** Imports or only checks pasted rows, or a small file that was corrected on the page. */
export function postImportText({ phrases }: ImportDeps): TenantRoute {
  return {
    access: "member",
    method: "POST",
    path: textPath,
    right: "member",
    fields: { rows: "Rows", do: "Do" },
    formBytesMax: pastedBytesMax,
    handle: async (call) => {
      const text = call.form.get("rows") ?? "";
      const { outcome, isCheck } = await importRows(phrases, call, Buffer.from(text), call.form);
      return answerOutcome(call, outcome, { isCheck, text });
    },
  };
}

const shownBytesMax = 20_000;

interface Outcome {
  readonly result?: ImportPhrasesResponse;
  readonly refusal?: ImportRefusal;
}

async function importRows(
  phrases: ImportDeps["phrases"],
  call: TenantCall,
  content: Uint8Array,
  form: URLSearchParams,
) {
  const { tenantId } = call.tenant;
  const isCheck = form.get("do") === "check";
  const request = { tenantId, format: PhraseFormat.CSV, content, dryRun: isCheck };
  return { isCheck, outcome: await outcomeOf(phrases.importPhrases(request, { ...call.rpc, timeoutMs }), content) };
}

async function outcomeOf(answer: Promise<ImportPhrasesResponse>, content: Uint8Array): Promise<Outcome> {
  try {
    return { result: await answer };
  } catch (error) {
    const refusal = importRefusal(error, content);
    if (!refusal) throw error;
    return { refusal };
  }
}

function answerOutcome(
  call: TenantCall,
  { result, refusal }: Outcome,
  shown: { readonly isCheck: boolean; readonly fileName?: string; readonly text: string },
): Answer {
  const isDone = result && !shown.isCheck;
  const text = isDone ? "" : shown.text;
  const page = importPage(call, { ...shown, text, ...(result && { result }), ...(refusal && { refusal }) });
  return answerPage(call, { ...page, status: refusal ? 400 : 200 });
}

function refused(call: TenantCall, refusal: ImportRefusal, status = 400): Answer {
  return answerPage(call, { ...importPage(call, { refusal }), status });
}
