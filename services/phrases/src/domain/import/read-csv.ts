import { CsvError } from "csv-parse";
import { parse } from "csv-parse/sync";
import { isUtf8 } from "node:buffer";
import { mistakeSeparator, tenantMembers } from "../parse-phrase.ts";
import { csvColumns } from "../text/phrase-text.ts";
import { type ImportRows, refusedImport } from "./import-rows.ts";

interface CsvRecord {
  readonly cells: readonly string[];
  /** Where the record before it ends, in bytes. */
  readonly after: number;
}

/**
 * Reads RFC 4180 with a header: columns by name in any order, BOM, LF and blank lines accepted. Throws `invalid` for a text
 * that is not CSV, a column that is unknown, doubled or missing, and a record of another length than the header.
 */
export function readCsv(bytes: Uint8Array): ImportRows {
  if (!isUtf8(bytes)) throw refusedImport('the file is not UTF-8; spreadsheets call it "CSV UTF-8"');
  const [header, ...records] = readRecords(bytes);
  if (!header) throw refusedImport("the file is empty, not even a header is there");
  const columns = readHeader(header.cells);
  const lineOf = (position: number) => lineAfter(bytes, records[position]?.after ?? 0);
  const rows = records.map(({ cells }, position) => {
    if (cells.length === columns.length) return toPhraseObject(columns, cells);
    throw refusedImport(`line ${lineOf(position)}: ${cells.length} cells where the header has ${columns.length}`);
  });
  return { rows, lineOf };
}

function readRecords(bytes: Uint8Array): CsvRecord[] {
  const records: CsvRecord[] = [];
  let after = 0;
  try {
    parse(bytes, {
      bom: true,
      // Discovered from the first line, it would fail on mixed ends.
      record_delimiter: ["\r\n", "\n"],
      skip_empty_lines: true,
      relax_column_count: true,
      on_record: (cells: string[], info) => {
        records.push({ cells, after });
        after = info.bytes;
        return undefined;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const what = error.code === "CSV_QUOTE_NOT_CLOSED" ? "a quote is not closed" : "a quote stands where none may";
    throw refusedImport(`line ${lineAfter(bytes, after)}: ${what}`);
  }
  return records;
}

/** The parser's own count of lines is that of a record's end, and wrong where a quoted cell holds CRLF. */
function lineAfter(bytes: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = 0; at < offset; at += 1) if (bytes[at] === 0x0a) line += 1;
  for (let at = offset; bytes[at] === 0x0d || bytes[at] === 0x0a; at += 1) if (bytes[at] === 0x0a) line += 1;
  return line;
}

function readHeader(cells: readonly string[]): readonly string[] {
  const [first = ""] = cells;
  if (cells.length === 1 && /[;\t]/.test(first)) throw refusedImport("columns are separated by commas only");
  for (const [index, name] of cells.entries()) {
    const shown = name.toWellFormed().slice(0, 40);
    if (!csvColumns.some((column) => column === name) && !tenantMembers.has(name)) {
      throw refusedImport(`line 1: the column "${shown}" is unknown; columns are ${csvColumns.join(", ")}`);
    }
    if (cells.indexOf(name) !== index) throw refusedImport(`line 1: the column "${shown}" is there twice`);
  }
  for (const name of ["language", "phrase"]) {
    if (!cells.includes(name)) throw refusedImport(`line 1: the column "${name}" is missing`);
  }
  return cells;
}

/** The phrase object that a record stands for. Cells of the wrong form stay as they are, and are found wrong later. */
function toPhraseObject(columns: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [index, name] of columns.entries()) {
    const value = toMember(name, cells[index] ?? "");
    if (value !== undefined) object[name] = value;
  }
  return object;
}

function toMember(name: string, cell: string): unknown {
  if (name === "language" || name === "phrase") return cell;
  if (cell === "") return undefined;
  if (name === "commonMistakes") return cell.split(mistakeSeparator);
  if (name !== "caseSensitive" && name !== "forbidden") return cell;
  if (cell === "true" || cell === "TRUE") return true;
  return cell === "false" || cell === "FALSE" ? false : cell;
}
