import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readJson } from "./read-json.ts";

const read = (text: string) =>
  Array.from(readJson(Buffer.from(text)))
    .flat()
    .map(({ value }) => value);

/** The rows that `JSON.parse` reads from the whole text. */
function readWhole(text: string): unknown[] {
  const value = JSON.parse(text) as unknown[] | { phrases: unknown[] };
  return Array.isArray(value) ? value : value.phrases;
}

test("rows are those that JSON.parse reads, in a bare array or in an object, indented or not", () => {
  const value = fc.jsonValue({ maxDepth: 3 }).map((kept): unknown => JSON.parse(JSON.stringify(kept)));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), fc.constantFrom(0, 1, "\t"), (rows, indent) => {
      for (const body of [rows, { phrases: rows }, { tenant: [[1], "x"], phrases: rows, tenantId: { a: [{}] } }]) {
        expect(read(` ${JSON.stringify(body, null, indent)}\r\n`)).toEqual(rows);
      }
    }),
  );
});

test("no text has other rows than JSON.parse reads, and no array that is JSON is refused", () => {
  const piece = fc.constantFrom(
    "[",
    "]",
    "{",
    "}",
    ",",
    '"',
    '"phrases":',
    '"tenant":',
    ":",
    "1",
    "{}",
    " ",
    "\\",
    "\n",
  );
  const body = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  const framed = fc.oneof(
    body,
    body.map((inner) => `[${inner}]`),
    body.map((inner) => `{"phrases":[${inner}]}`),
  );
  fc.assert(
    fc.property(framed, (text) => {
      const [mine, whole] = [read, readWhole].map((reader) => {
        try {
          return reader(text);
        } catch {
          return undefined;
        }
      });
      // An object may be JSON and still be refused: for an unknown member, or for `phrases` that is
      // no array.
      if (mine) expect(mine).toEqual(whole);
      else if (text.startsWith("[")) expect(whole).toBeUndefined();
    }),
    { numRuns: 20_000 },
  );
});

test("of two members `phrases` the last one counts", () => {
  expect(read('{"phrases":[1,2],"phrases":[3]}')).toEqual([3]);
});

test("the name `phrases` may be written with escapes", () => {
  expect(read(String.raw`{"phr\u0061ses":[1,2]}`)).toEqual([1, 2]);
});

test.each([
  ["a byte order mark", "the body begins with a byte order mark (EF BB BF)", "\ufeff[]"],
  ["a bracket that closes a brace", "the body is not JSON", "[{},{]"],
  ["a bare word in an element", "index 1: Unexpected token 'x'", '[{},{"a":x}]'],
  ["no comma between two elements", "the body is not JSON: index 0", "[{} {}]"],
  ["a comma before the last bracket", "the body is not JSON: Unexpected token ']'", "[1,]"],
  ["two arrays", "the body is not JSON", "[1][2]"],
  ["an open array", "the body is not JSON", "[1"],
  ["no text", "the body is not JSON", ""],
  ["a bare word beside the phrases", "the body is not JSON", '{"phrases":[],"tenant":[x]}'],
  ["an element of 300,000 bytes", "index 0: a row has at most 256 KiB", `[${"[".repeat(300_000)}`],
  ["70,000 spaces before the array", "more stands around the phrases", `${" ".repeat(70_000)}[]`],
  ["50,001 elements", "at most 50,000 rows", `[${"{},".repeat(50_000)}{}]`],
])("a body with %s is refused: %s", (_, words, text) => {
  expect(() => read(text)).toThrow(words);
});

test("a large array with much white space between its elements is read in more than 15 batches", () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => ({ language: "sv", phrase: `ord ${n}` }));
  const turns = Array.from(readJson(Buffer.from(JSON.stringify({ phrases: rows }, null, 8))));
  expect(turns.length).toBeGreaterThan(15);
  expect(turns.flat().map(({ value }) => value)).toEqual(rows);
});
