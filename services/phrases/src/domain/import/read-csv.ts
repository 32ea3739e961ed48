import { CsvRowScanner } from "@vidimus/kit/rows/csv-rows";
import { CsvError } from "csv-parse";
import { parse } from "csv-parse/sync";
import { isUtf8 } from "node:buffer";
import { mistakeSeparator, tenantMembers } from "../parse-phrase.ts";
import { csvColumns } from "../text/phrase-text.ts";
import { checkRowCount, checkRowSize, type ImportRow, refusedImport, turnBytes } from "./import-rows.ts";

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Consecutive whole records of a file. */
interface Piece {
  readonly bytes: Uint8Array;
  /** Line on which each record begins, from 1. A blank line is not a record. */
  readonly lines: readonly number[];
}

/**
 * Reads RFC 4180 with a header, in batches of one turn of the event loop. Columns are named and in
 * any order; a BOM, LF line ends and blank lines are accepted.
 *
 * @throws DomainError `invalid` for text that is not CSV, an unknown, repeated or missing column,
 * and a record with another number of cells than the header
 */
export function* readCsv(bytes: Uint8Array): Generator<readonly ImportRow[]> {
  if (!isUtf8(bytes)) throw refusedImport('the file is not UTF-8; spreadsheets call it "CSV UTF-8"');
  let columns: readonly string[] | undefined;
  for (const piece of piecesOf(withoutMark(bytes))) {
    const rows: ImportRow[] = [];
    for (const [index, cells] of readRecords(piece).entries()) {
      const line = piece.lines[index] ?? 0;
      if (!columns) columns = readHeader(cells);
      else if (cells.length === columns.length) rows.push({ value: toPhraseObject(columns, cells), line });
      else throw refusedImport(`line ${line}: ${cells.length} cells where the header has ${columns.length}`);
    }
    yield rows;
  }
  if (!columns) throw refusedImport("the file is empty, not even a header is there");
}

function withoutMark(bytes: Uint8Array): Uint8Array {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return marked ? bytes.subarray(3) : bytes;
}

/** Splits the file after whole records, so that each piece can be parsed by itself. */
function* piecesOf(bytes: Uint8Array): Generator<Piece> {
  const scanner = new CsvRowScanner();
  let lines: number[] = [];
  let line = 1;
  let from = 0;
  let end = 0;
  for (let rows = 0; end < bytes.length; rows += 1) {
    const begin = scanner.next(bytes, end);
    end = scanner.next(bytes, begin);
    if (end === -1) end = bytes.length;
    checkRowCount(rows);
    checkRowSize(end - begin, `line ${line}`);
    if (!isBlank(bytes, begin, end)) lines.push(line);
    line += lineFeedsIn(bytes, begin, end);
    if (end - from < turnBytes && end < bytes.length) continue;
    yield { bytes: bytes.subarray(from, end), lines };
    from = end;
    lines = [];
  }
}

function isBlank(bytes: Uint8Array, begin: number, end: number): boolean {
  return (
    bytes[begin] === lineFeed || (bytes[begin] === carriageReturn && bytes[begin + 1] === lineFeed && end - begin === 2)
  );
}

function lineFeedsIn(bytes: Uint8Array, begin: number, end: number): number {
  let count = 0;
  for (let at = bytes.indexOf(lineFeed, begin); at !== -1 && at < end; at = bytes.indexOf(lineFeed, at + 1)) count += 1;
  return count;
}

function readRecords({ bytes, lines }: Piece): string[][] {
  const records: string[][] = [];
  try {
    parse(bytes, {
      // By default csv-parse takes the first line's delimiter, and then fails on mixed line ends.
      record_delimiter: ["\r\n", "\n"],
      skip_empty_lines: true,
      relax_column_count: true,
      on_record: (cells: string[]) => {
        records.push(cells);
        return undefined;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const what = error.code === "CSV_QUOTE_NOT_CLOSED" ? "a quote is not closed" : "a quote stands where none may";
    throw refusedImport(`line ${lines[records.length]}: ${what}`);
  }
  return records;
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

/**
 * A record as a phrase object. Cells of the wrong form are kept as text, which `parsePhrase`
 * refuses.
 */
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
