import { DomainError } from "@vidimus/kit/errors";
import { checkJsonBytes } from "@vidimus/kit/json-bytes";
import { JsonRowScanner } from "@vidimus/kit/rows/json-rows";
import { isObject, tenantMembers } from "../parse-phrase.ts";
import { checkRowCount, checkRowSize, type ImportRow, importRowsMax, refusedImport, turnBytes } from "./import-rows.ts";

/** Bytes that are scanned in one turn of the event loop, in about 1 ms. */
const scanBytes = 16 * turnBytes;

/** Most bytes outside of the rows. The comma and the white space between two rows do not count. */
const frameBytesMax = 64 * 1024;

/**
 * Reads `{"phrases":[…]}` or a bare array.
 *
 * First it finds the elements of arrays. Then it parses the frame, which is the text with each
 * element replaced by its number, and finally each element by itself. The text is valid JSON
 * exactly when the frame and all elements are.
 *
 * @throws DomainError `invalid` for text that is not JSON or has another shape, too many rows, a
 * row that is too large, and too much text around the rows
 */
export function* readJson(bytes: Uint8Array): Generator<readonly ImportRow[]> {
  checkJsonBytes(bytes);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const boundaries = yield* findBoundaries(text);
  const range = rowsOf(parsePart(frameOf(text, boundaries)));
  let rows: ImportRow[] = [];
  let from = 0;
  for (let position = 0; position * 2 < boundaries.length; position += 1) {
    const begin = boundaries[position * 2] ?? 0;
    const end = boundaries[position * 2 + 1] ?? 0;
    const value = parsePart(text.toString("utf8", begin, end), `index ${position - range.first}: `);
    if (position >= range.first && position < range.first + range.count) rows.push({ value });
    if (end - from < turnBytes) continue;
    yield rows;
    rows = [];
    from = end;
  }
  yield rows;
}

/** The start and end offsets of the elements, alternating. */
function* findBoundaries(text: Buffer): Generator<readonly ImportRow[], readonly number[]> {
  const scanner = new JsonRowScanner();
  const boundaries: number[] = [];
  for (let start = 0; start < text.length; start += scanBytes) {
    const chunk = text.subarray(start, start + scanBytes);
    for (let at = scanner.next(chunk, 0); at !== -1; at = scanner.next(chunk, at)) boundaries.push(start + at);
    checkRowCount(Math.ceil(boundaries.length / 2));
    if (scanner.inside) checkSize(boundaries.length - 1, start + chunk.length);
    yield [];
  }
  if (scanner.inside) boundaries.push(text.length);
  for (let at = 0; at < boundaries.length; at += 2) checkSize(at, boundaries[at + 1] ?? 0);
  return boundaries;

  function checkSize(at: number, end: number): void {
    checkRowSize(end - (boundaries[at] ?? 0), `index ${at / 2}`);
  }
}

function frameOf(text: Buffer, boundaries: readonly number[]): string {
  let frame = "";
  let bytes = 0;
  let from = 0;
  const keep = (until: number) => {
    const comma = commaIn(text, from, until);
    if (!comma) bytes += until - from;
    if (bytes > frameBytesMax) throw refusedImport("more stands around the phrases than an import may hold");
    frame += comma ?? text.toString("utf8", from, until);
  };
  for (let at = 0; at < boundaries.length; at += 2) {
    keep(boundaries[at] ?? 0);
    frame += at / 2;
    from = boundaries[at + 1] ?? 0;
  }
  keep(text.length);
  return frame;
}

/** Returns a comma when the text between two offsets is one comma and white space. */
function commaIn(text: Buffer, from: number, until: number): "," | undefined {
  let commas = 0;
  for (let at = from; at < until; at += 1) {
    const byte = text[at];
    if (byte === 0x2c) commas += 1;
    else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return undefined;
  }
  return commas === 1 ? "," : undefined;
}

function rowsOf(frame: unknown): { first: number; count: number } {
  const rows = Array.isArray(frame) ? frame : phrasesOf(frame);
  return { first: Number(rows[0] ?? importRowsMax), count: rows.length };
}

function phrasesOf(frame: unknown): readonly unknown[] {
  if (!isObject(frame)) throw refusedImport("the body must be an array of phrases, or an object with one in phrases");
  const unknown = Object.keys(frame).find((name) => name !== "phrases" && !tenantMembers.has(name));
  if (unknown !== undefined) throw refusedImport(`the member "${unknown.toWellFormed().slice(0, 40)}" is unknown`);
  if (!Array.isArray(frame.phrases)) throw refusedImport("phrases must be an array");
  return frame.phrases;
}

function parsePart(text: string, prefix = ""): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The position counts from the part's beginning, and the quoted text may be a number that
    // replaced an element, so both are cut off.
    const [what = ""] = error.message.split(/ in JSON at position |, (?:\.\.\.)?"/);
    throw new DomainError("invalid", `the body is not JSON: ${prefix}${what.toWellFormed().slice(0, 200)}`);
  }
}
