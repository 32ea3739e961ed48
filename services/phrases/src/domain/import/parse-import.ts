import { DomainError, type Violation } from "@vidimus/kit/errors";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parsePhrase, violationText } from "../parse-phrase.ts";
import type { PhraseDraft } from "../phrase.ts";
import { type ImportRows, importRowsMax, refusedImport } from "./import-rows.ts";

/** So many violations travel with a refusal; they go into the trailers of a call, whose size is bounded. */
const violationsMax = 20;
const namedInMessageMax = 3;
/** Rows read before other calls get their turn. */
const rowsPerTurn = 2_000;

/** Reads every row, and throws `invalid`, with pointers `/<position>/<member>`, unless all of them are phrases. */
export async function parseImport(text: ImportRows): Promise<PhraseDraft[]> {
  if (text.rows.length > importRowsMax) {
    throw refusedImport(`${text.rows.length} rows are more than the ${importRowsMax} an import may have`);
  }
  const drafts: PhraseDraft[] = [];
  const faults: RowFault[] = [];
  for (const [position, row] of text.rows.entries()) {
    const violations: Violation[] = [];
    const draft = parsePhrase(row, violations);
    if (draft) drafts.push(draft);
    else faults.push({ position, violations });
    if (position % rowsPerTurn === rowsPerTurn - 1) await nextTurn();
  }
  refuseRows(text, faults);
  return drafts;
}

/** A row and what is wrong with it. */
export interface RowFault {
  readonly position: number;
  readonly violations: readonly Violation[];
}

/** Throws `invalid` naming the rows, if there are faults. */
export function refuseRows(text: ImportRows, faults: readonly RowFault[]): void {
  if (faults.length === 0) return;
  const shown = faults.slice(0, violationsMax).flatMap((fault) => placed(text, fault));
  const named = shown.slice(0, namedInMessageMax).map(({ text }) => text);
  const rows = faults.length === 1 ? "1 row is" : `${faults.length} rows are`;
  const more = shown.length > named.length ? "; …" : "";
  throw new DomainError(
    "invalid",
    `nothing was imported: ${rows} invalid of ${text.rows.length}; ${named.join("; ")}${more}`,
    { violations: shown.slice(0, violationsMax).map(({ violation }) => violation) },
  );
}

/** The violations of a row as violations of the whole, each with words that say where it is. */
function placed(text: ImportRows, { position, violations }: RowFault): { violation: Violation; text: string }[] {
  const line = text.lineOf?.(position);
  const place = line === undefined ? `index ${position}` : `line ${line}`;
  return violations.map((violation) => {
    const pointer = `/${position}${violation.pointer}`;
    const { message } = violation;
    return {
      violation: line === undefined ? { pointer, message } : { pointer, message, line },
      text: `${place}: ${violationText(violation)}`,
    };
  });
}
