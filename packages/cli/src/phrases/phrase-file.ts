import type { ImportBody } from "../public-api/phrases-api.ts";
import { splitCsv } from "./split-csv.ts";

/** The formats of files with phrases: CSV or JSON as exported, one word a line, hunspell. */
export const fileFormats = ["csv", "json", "words", "dic"] as const;

export type FileFormat = (typeof fileFormats)[number];

/** A part of a file that fits into one request. */
export interface Part extends ImportBody {
  readonly rows: number;
  /** Names the row at fault by its position in the file, not in the part: `line 7`. */
  nameOfRow(fault: { line?: number; index?: number }): string;
}

/**
 * The largest import, in rows and UTF-16 units; 3,000,000 units are at most 9 MB of UTF-8, and the
 * service takes 10 MiB.
 */
const wholeRowsMax = 50_000;
const wholeCharsMax = 3_000_000;
/** Rows of a part when a file must be cut: few enough for a progress bar that moves. */
const partRowsMax = 10_000;

interface Row {
  readonly text: string;
  /** Position in the file: a line from 1, or in JSON an index from 0. */
  readonly at: number;
}

/**
 * Cuts the text of a file into parts. Makes one part when it fits, because one import is all or
 * nothing.
 *
 * @param language of a list of words, which does not state its language; unused for CSV and JSON
 * @throws SyntaxError for the format `json`, when the text is not JSON or has no array of phrases
 */
export function partsOf(text: string, format: Exclude<FileFormat, "dic">, language: string): Part[] {
  if (format === "csv") {
    const { header, records } = splitCsv(text);
    return cut(records).map((rows) => csvPart(header, rows));
  }
  if (format === "json") return cut(readJson(text)).map((rows) => jsonPart(rows, "index"));
  return wordParts(plainWords(text), language);
}

/** Cuts words into parts, as `partsOf` does; `at` is each word's line. */
export function wordParts(
  words: readonly { readonly text: string; readonly at: number; readonly forbidden?: boolean }[],
  language: string,
): Part[] {
  const rows = words.map(({ text, at, forbidden }) => {
    const phrase = { language, phrase: text, ...(forbidden && { forbidden }) };
    return { at, text: JSON.stringify(phrase) };
  });
  return cut(rows).map((rows) => jsonPart(rows, "line"));
}

function cut(rows: readonly Row[]): Row[][] {
  const chars = rows.reduce((sum, { text }) => sum + text.length, 0);
  if (rows.length <= wholeRowsMax && chars <= wholeCharsMax) return rows.length === 0 ? [] : [[...rows]];
  const parts: Row[][] = [];
  let size = 0;
  for (const row of rows) {
    size += row.text.length;
    const part = parts.at(-1);
    if (part && part.length < partRowsMax && size <= wholeCharsMax) part.push(row);
    else {
      parts.push([row]);
      size = row.text.length;
    }
  }
  return parts;
}

function csvPart(header: string, rows: readonly Row[]): Part {
  // The part's records are consecutive in the file, so its line numbers differ from the file's by a
  // constant.
  const before = (rows[0]?.at ?? 0) - 2;
  return {
    type: "text/csv",
    text: header + rows.map(({ text }) => text).join(""),
    rows: rows.length,
    nameOfRow: ({ line = 1 }) => `line ${line === 1 ? 1 : line + before}`,
  };
}

function jsonPart(rows: readonly Row[], noun: "line" | "index"): Part {
  return {
    type: "application/json",
    text: `[${rows.map(({ text }) => text).join(",")}]`,
    rows: rows.length,
    nameOfRow: ({ index = 0 }) => `${noun} ${rows[index]?.at ?? index}`,
  };
}

function readJson(text: string): Row[] {
  const value: unknown = JSON.parse(text);
  const phrases: unknown = Array.isArray(value)
    ? value
    : Object.getOwnPropertyDescriptor(value ?? {}, "phrases")?.value;
  if (!Array.isArray(phrases)) throw new SyntaxError("neither an array of phrases nor an object with one in phrases");
  return phrases.map((phrase, at) => ({ at, text: JSON.stringify(phrase) }));
}

function plainWords(text: string): Row[] {
  return text
    .split(/\r?\n/)
    .flatMap((line, index) => (line.trim() === "" ? [] : [{ text: line.trim(), at: index + 1 }]));
}
