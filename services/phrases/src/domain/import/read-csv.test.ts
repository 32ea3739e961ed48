import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readCsv } from "./read-csv.ts";

const read = (text: string) => readCsv(Buffer.from(text));

test("columns go by name; empty cells are members left out", () => {
  const { rows } = read(
    "phrase,language,id,caseSensitive,forbidden,commonMistakes,description,tenant\r\nå,sv,,TRUE,false,a|b,,x\r\n,,,,,,,\r\n",
  );
  expect(rows).toEqual([
    { phrase: "å", language: "sv", caseSensitive: true, forbidden: false, commonMistakes: ["a", "b"], tenant: "x" },
    { phrase: "", language: "" },
  ]);
});

test.each([
  ["LF", "\n"],
  ["CRLF", "\r\n"],
])("lines are those of the file, with quoted line breaks, blank lines and %s", (_, eol) => {
  const { rows, lineOf } = read(["\ufefflanguage,phrase", "", 'sv,"a', 'b"', "sv,c", "", "", "sv,d"].join(eol));
  expect(rows).toHaveLength(3);
  expect([0, 1, 2].map((position) => lineOf?.(position))).toEqual([3, 5, 8]);
});

test("line ends may be mixed", () => {
  expect(read("language,phrase\nsv,a\r\nsv,b\n").rows).toEqual([
    { language: "sv", phrase: "a" },
    { language: "sv", phrase: "b" },
  ]);
});

test.each([
  ['language,phrase\nsv,a\nsv,b"c\n', "line 3"],
  ['language,phrase\nsv,a\nsv,"b"c\n', "line 3"],
  ['language,phrase\r\nsv,"x\r\ny"\r\nsv,"b\r\n', "line 4: a quote is not closed"],
  ["language\tphrase\nsv\ta", "commas"],
])("%j is refused with its place", (text, words) => {
  expect(() => read(text)).toThrow(words);
});

test("whatever is quoted as RFC 4180 says is read as it was, on the line where it stands", () => {
  const cell = fc.string({ unit: fc.constantFrom('"', ",", "\r\n", "\n", "å", " ", "😀", "|", ";", "") });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), fc.constantFrom("\n", "\r\n"), (cells, eol) => {
      const quoted = cells.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(","));
      const { rows, lineOf } = read(["language,phrase", ...quoted].join(eol));
      expect(rows).toEqual(cells.map(([language, phrase]) => ({ language, phrase })));
      let line = 2;
      for (const [position, row] of quoted.entries()) {
        expect(lineOf?.(position)).toBe(line);
        line += row.split("\n").length;
      }
    }),
  );
});
