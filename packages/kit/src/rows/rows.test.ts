import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CsvRowScanner } from "./csv-rows.ts";
import { JsonRowScanner } from "./json-rows.ts";
import { RowCounter, type RowScanner } from "./row-scanner.ts";

const scanners = [
  ["csv", () => new CsvRowScanner(), fc.constantFrom('"', ",", "\n", "\r\n", "å", " ", "x")],
  ["json", () => new JsonRowScanner(), fc.constantFrom('"', "\\", ",", "[", "]", "{", "}", ":", "\n", "1", "å")],
] as const;

function counted(scanner: RowScanner, chunks: readonly Uint8Array[]): number {
  const counter = new RowCounter(scanner);
  for (const chunk of chunks) counter.add(chunk);
  return counter.rows;
}

/**
 * Cuts the bytes into pieces of the given sizes, which repeat; a size of 0 makes an empty piece.
 */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 }).filter((all) => all.some((size) => size > 0));

test.for(scanners)(
  "%s: a text, valid or not, has as many rows in chunks of 0 to 9 bytes as in one piece",
  ([, scan, unit]) => {
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 200 }), sizes, (text, sizes) => {
        const bytes = Buffer.from(text);
        expect(counted(scan(), cut(bytes, sizes))).toBe(counted(scan(), [bytes]));
      }),
      { numRuns: 1_000 },
    );
  },
);

test("json: the rows of an array, or of an array in an object, are the elements of that array", () => {
  const spaced = fc.constantFrom("", " ", "\n\t ");
  // JSON.stringify writes -0 as 0, so -0 would not be read back as it was.
  const value = fc.jsonValue({ maxDepth: 3 }).map((kept): unknown => JSON.parse(JSON.stringify(kept)));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 6 }), spaced, (values, space) => {
      for (const text of [JSON.stringify(values), JSON.stringify({ tenant: "a[,]", phrases: values }, null, 2)]) {
        const bytes = Buffer.from(space + text + space);
        expect(elementsOf(bytes)).toEqual(values);
        expect(counted(new JsonRowScanner(), [bytes])).toBe(values.length);
      }
    }),
    { numRuns: 500 },
  );
});

function elementsOf(bytes: Buffer): unknown[] {
  const scanner = new JsonRowScanner();
  const elements: unknown[] = [];
  for (let begun = scanner.next(bytes, 0); begun !== -1; begun = scanner.next(bytes, begun)) {
    const end = scanner.next(bytes, begun);
    elements.push(JSON.parse(bytes.toString("utf8", begun, end)));
    begun = end;
  }
  return elements;
}

const jsonRows = (text: string) => counted(new JsonRowScanner(), [Buffer.from(text)]);

test("json: the rows of a repeated member count each time", () => {
  expect(jsonRows('{"phrases":[1],"phrases":[2,3]}')).toBe(3);
});

test("json: rows count in a member whose name is written with escapes", () => {
  expect(jsonRows(String.raw`{"phr\u0061ses":[1,"]\"",3]}`)).toBe(3);
});

const csvRows = (text: string) => counted(new CsvRowScanner(), [Buffer.from(text)]);

test("csv: each line counts as a row, also the header, blank lines and a last line without an end", () => {
  expect(csvRows("")).toBe(0);
  expect(csvRows("a,b\n")).toBe(1);
  expect(csvRows("a,b\r\n\r\n,\n\nlast")).toBe(5);
});

test("csv: a quoted line break ends no row", () => {
  expect(csvRows('a,b\n"x\n""y",z\n')).toBe(2);
});
