import type { ImportPhrasesResponse } from "@vidimus/contracts/vidimus/phrases/v1/phrase_service";
import type { TenantCall } from "../../http/route.ts";
import { areaField } from "../parts/form.ts";
import { type Html, html } from "../../markup/html.ts";
import { figure } from "../../markup/in-words.ts";
import { pageHead } from "../parts/page-head.ts";
import type { View } from "../parts/tenant-page.ts";
import { type ImportRefusal, showRefusal } from "./import-refusal.ts";

interface Shown {
  /** Whether the import was only a check, which writes nothing. */
  readonly isCheck?: boolean;
  readonly fileName?: string;
  readonly result?: ImportPhrasesResponse;
  readonly refusal?: ImportRefusal;
  /** Text in the field for pasted rows: rows that were refused, or only checked. */
  readonly text?: string;
}

const title = "Import phrases";

export function importPage({ at }: TenantCall, shown: Shown): View {
  const { refusal, result, text = "" } = shown;
  const rowsTitle = text === "" ? "Or paste rows" : refusal ? "Mend the rows here" : "The rows that were checked";
  return {
    title,
    main: html`${pageHead({
      title,
      above: { label: "Phrases", href: at("/phrases") },
      lead: "Each row is added, or replaces the phrase that has its id, or else its language and text. One bad row refuses them all.",
    })}
    ${refusal && showRefusal(refusal, shown.isCheck)} ${result && showResult(result, shown, at("/phrases"))}
    ${text === "" ? [fileForm(at, "primary"), pasteForm(at, rowsTitle, text)] : [pasteForm(at, rowsTitle, text, "primary"), fileForm(at)]}`,
  };
}

function fileForm(at: TenantCall["at"], kind = ""): Html {
  return html`<h2>A file</h2>
    <form method="post" action="${at("/phrases/import")}" enctype="multipart/form-data">
      <div class="field">
        <label for="file">CSV file</label>
        <p class="hint" id="file-hint">
          UTF-8, at most 10 MiB and 50,000 rows, as <a href="${at("/phrases/export")}">the export</a> is. The columns
          <code>language</code> and <code>phrase</code> are enough; the others may be left out.
        </p>
        <input id="file" name="file" type="file" accept=".csv,text/csv" required aria-describedby="file-hint" />
      </div>
      ${buttons(kind)}
    </form>`;
}

function pasteForm(at: TenantCall["at"], heading: string, text: string, kind = ""): Html {
  return html`<h2>${heading}</h2>
    <form method="post" action="${at("/phrases/import/text")}">
      ${areaField({
        name: "rows",
        label: "Rows of CSV, with a header",
        hint: html`For example <code>language,phrase,commonMistakes</code>, and below it
          <code>sv,Kyiv,Kiev|Kijev</code>.`,
        rows: text === "" ? 6 : 14,
        value: text,
      })}
      ${buttons(kind)}
    </form>`;
}

function buttons(kind: string): Html {
  return html`<div class="actions">
    <button class="${kind}" name="do" value="import">Import</button>
    <button name="do" value="check">Only check</button>
  </div>`;
}

function showResult(result: ImportPhrasesResponse, { isCheck, fileName }: Shown, list: string): Html {
  const rows = result.imported === 1 ? "1 row" : `${figure(result.imported)} rows`;
  const of = fileName !== undefined && html` of <b dir="auto">${fileName}</b>`;
  const [created, changed, unchanged] = [result.created, result.changed, result.unchanged].map(figure);
  return html`<div class="note oknote" role="status">
    ${
      isCheck
        ? html`The ${rows}${of} can be imported; nothing was written yet. New: ${created}, changed: ${changed}, as they
          are: ${unchanged}.`
        : html`${rows}${of} ${result.imported === 1 ? "is" : "are"} imported. New: ${created}, changed: ${changed}, as
            they were: ${unchanged}. <a href="${list}">See the phrases</a>.`
    }
  </div>`;
}
