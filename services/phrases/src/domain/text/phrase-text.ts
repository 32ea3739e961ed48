import { mistakeSeparator } from "../parse-phrase.ts";
import type { Phrase } from "../phrase.ts";

/** A text form of phrases: `head`, the phrases with `separator` between them, `tail`. */
export interface PhraseText {
  readonly head: string;
  readonly separator: string;
  readonly tail: string;
  write(phrase: Phrase): string;
}

export const jsonText: PhraseText = {
  head: "[",
  separator: ",",
  tail: "]",
  write: (phrase) => JSON.stringify(ordered(phrase)),
};

/** Columns of a CSV file, in the order in which they are written. */
export const csvColumns = [
  "id",
  "language",
  "phrase",
  "caseSensitive",
  "forbidden",
  "commonMistakes",
  "description",
  "createdAt",
  "updatedAt",
] as const;

/**
 * RFC 4180 with a header and CRLF. Values that a spreadsheet may run as formulas are not escaped,
 * because escaped values would be imported as other phrases.
 */
export const csvText: PhraseText = {
  head: `${csvColumns.join(",")}\r\n`,
  separator: "",
  tail: "",
  write: (phrase) => {
    const { createdAt, updatedAt, commonMistakes, ...rest } = ordered(phrase);
    const cells = [rest.id, rest.language, rest.phrase, String(rest.caseSensitive), String(rest.forbidden)];
    cells.push(commonMistakes.join(mistakeSeparator), rest.description, createdAt, updatedAt);
    return `${cells.map(quoted).join(",")}\r\n`;
  },
};

function ordered({ id, language, phrase, caseSensitive, forbidden, commonMistakes, description, ...dates }: Phrase) {
  const createdAt = dates.createdAt.toISOString();
  const updatedAt = dates.updatedAt.toISOString();
  return { id, language, phrase, caseSensitive, forbidden, commonMistakes, description, createdAt, updatedAt };
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
