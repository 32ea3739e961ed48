import { hasByteOrderMark } from "@vidimus/kit/json-bytes";
import { CsvRowScanner } from "@vidimus/kit/rows/csv-rows";
import { CsvError } from "csv-parse";
import { parse } from "csv-parse/sync";
import { isUtf8 } from "node:buffer";
import { mistakeSeparator, tenantMembers } from "../parse-phrase.ts";
import { readBoolean } from "./spreadsheet-booleans.ts";
import { csvColumns } from "../text/phrase-text.ts";
import { checkRowCount, checkRowSize, type ImportRow, refusedImport, turnBytes } from "./import-rows.ts";

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** The header is searched for in this many bytes; one with every column has 89. */
const headerBytesMax = 4096;

/** A line that some spreadsheets write above the header, for Excel: `sep=;`. */
const separatorLine = /^"?sep=/i;

/** Consecutive complete records of a file. */
interface Piece {
  readonly bytes: Uint8Array;
  /** Line on which each record begins, from 1. A blank line is not a record. */
  readonly lines: readonly number[];
}

/**
 * Reads RFC 4180 with a header. Columns are named in any order and case. The header determines the
 * separator: commas, or semicolons, which spreadsheets use where the comma is the decimal
 * separator. A BOM, LF line ends and blank lines are accepted; a record of empty cells, as
 * spreadsheets write below a table, counts as a blank line, and so does a line `sep=;` above the
 * header.
 *
 * @throws DomainError `invalid` for text that is not UTF-8 or not CSV, an unknown, repeated or
 * missing column, a record with another number of cells than the header, too many rows, and a row
 * that is too large
 */
export function* readCsv(bytes: Uint8Array): Generator<readonly ImportRow[]> {
  if (!isUtf8(bytes)) throw refusedImport('the file is not UTF-8; spreadsheets call it "CSV UTF-8"');
  const text = withoutMark(bytes);
  const separator = separatorOf(text);
  let columns: readonly string[] | undefined;
  for (const piece of piecesOf(text)) {
    const rows: ImportRow[] = [];
    for (const [index, cells] of readRecords(piece, separator).entries()) {
      const line = piece.lines[index] ?? 0;
      if (cells.every((cell) => cell.trim() === "")) continue;
      if (!columns && separatorLine.test(cells[0] ?? "")) continue;
      if (!columns) columns = readHeader(cells, line);
      else if (cells.length === columns.length) rows.push({ value: toPhraseObject(columns, cells), line });
      else throw refusedImport(`line ${line}: ${cells.length} cells where the header has ${columns.length}`);
    }
    yield rows;
  }
  if (!columns) throw refusedImport("the file is empty, not even a header is there");
}

function withoutMark(bytes: Uint8Array): Uint8Array {
  return hasByteOrderMark(bytes) ? bytes.subarray(3) : bytes;
}

/**
 * The separator that the header uses: comma, else semicolon. Column names contain neither. The
 * header is the first line with a letter, except `sep=;`.
 *
 * @throws DomainError `invalid` when tabs separate the columns
 */
function separatorOf(bytes: Uint8Array): "," | ";" {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headerBytesMax)).toString();
  const header = start.split("\n").find((line) => /\p{L}/u.test(line) && !separatorLine.test(line)) ?? "";
  if (header.includes(",")) return ",";
  if (header.includes(";")) return ";";
  if (header.includes("\t")) throw refusedImport("columns are separated by tabs; use commas or semicolons");
  return ",";
}

/** Splits the file between records, so that each piece can be parsed by itself. */
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

function readRecords({ bytes, lines }: Piece, separator: string): string[][] {
  const records: string[][] = [];
  try {
    parse(bytes, {
      delimiter: separator,
      // By default csv-parse expects the line end of the first line everywhere. With mixed line
      // ends it would join records, keep a CR in a cell, or refuse a quoted cell.
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

/**
 * From lowercase name to name: the known columns, and those that name a tenant and are ignored.
 */
const columnsByName: ReadonlyMap<string, string> = new Map(
  [...csvColumns, ...tenantMembers].map((name) => [name.toLowerCase(), name]),
);

function readHeader(cells: readonly string[], line: number): readonly string[] {
  const columns = cells.map((cell) => {
    const column = columnsByName.get(cell.trim().toLowerCase());
    if (column) return column;
    const shown = cell.toWellFormed().slice(0, 40);
    throw refusedImport(`line ${line}: the column "${shown}" is unknown; columns are ${csvColumns.join(", ")}`);
  });
  const repeated = columns.find((name, index) => columns.indexOf(name) !== index);
  if (repeated !== undefined) throw refusedImport(`line ${line}: the column "${repeated}" is there twice`);
  for (const name of ["language", "phrase"]) {
    if (!columns.includes(name)) throw refusedImport(`line ${line}: the column "${name}" is missing`);
  }
  return columns;
}

/**
 * A record as a phrase object. A cell that should be a boolean and is none stays text, which
 * `parsePhrase` refuses.
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
  return readBoolean(cell) ?? cell;
}
