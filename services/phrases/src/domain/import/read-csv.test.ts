import * as fc from "fast-check";
import { parse } from "csv-parse/sync";
import { CsvRowScanner } from "@vidimus/kit/rows/csv-rows";
import { RowCounter } from "@vidimus/kit/rows/row-scanner";
import { expect, test } from "vitest";
import { readCsv } from "./read-csv.ts";

function read(text: string) {
  const rows = Array.from(readCsv(Buffer.from(text))).flat();
  return { rows: rows.map(({ value }) => value), lines: rows.map(({ line }) => line) };
}

test("columns are read by name", () => {
  const { rows } = read("phrase,language,caseSensitive,forbidden,commonMistakes,tenant\r\nå,sv,TRUE,false,a|b,x\r\n");
  expect(rows).toEqual([
    { phrase: "å", language: "sv", caseSensitive: true, forbidden: false, commonMistakes: ["a", "b"], tenant: "x" },
  ]);
});

test("empty cells are left out, except those of phrase and language", () => {
  const { rows } = read("phrase,language,id,caseSensitive,forbidden,commonMistakes,description,tenant\r\n,,,,,,,y\r\n");
  expect(rows).toEqual([{ phrase: "", language: "", tenant: "y" }]);
});

test("semicolons separate columns when they do so in the header, and commas are then text", () => {
  const { rows } = read('\ufeff"phrase";language;commonMistakes\r\nsalt, peppar;sv;a|b\r\n"x;y";sv;\r\n');
  expect(rows).toEqual([
    { phrase: "salt, peppar", language: "sv", commonMistakes: ["a", "b"] },
    { phrase: "x;y", language: "sv" },
  ]);
});

test("a semicolon in a file of commas is text", () => {
  expect(read("language,phrase\nsv,a;b\n").rows).toEqual([{ language: "sv", phrase: "a;b" }]);
});

test("rows of empty cells are skipped like blank lines, without a shift of later line numbers", () => {
  const { rows, lines } = read(",,\r\nlanguage,phrase,description\r\n,,\r\nsv,a,\r\n,,\r\n , ,\r\n,,,,,,\r\n");
  expect(rows).toEqual([{ language: "sv", phrase: "a" }]);
  expect(lines).toEqual([4]);
});

test.each([
  ["English", "TRUE", "FALSE"],
  ["Python's", "True", "False"],
  ["Czech", "PRAVDA", "NEPRAVDA"],
  ["Danish", "SAND", "FALSK"],
  ["Dutch", "WAAR", "ONWAAR"],
  ["Finnish", "TOSI", "EPÄTOSI"],
  ["French", "VRAI", "FAUX"],
  ["German", "WAHR", "FALSCH"],
  ["Hungarian", "IGAZ", "HAMIS"],
  ["Italian", "VERO", "FALSO"],
  ["Norwegian", "SANN", "USANN"],
  ["Polish", "PRAWDA", "FA\u0141SZ"],
  ["Portuguese", "VERDADEIRO", "FALSO"],
  ["Russian", "ИСТИНА", "ЛОЖЬ"],
  ["Spanish", "VERDADERO", "FALSO"],
  ["Swedish", "SANT", "FALSKT"],
  ["Turkish", "DOĞRU", "YANLIŞ"],
  ["Ukrainian", "ІСТИНА", "ХИБНІСТЬ"],
])("%s booleans are read, also in lower case and in the decomposed Unicode form", (_, yes, no) => {
  for (const form of [String, (word: string) => word.toLowerCase(), (word: string) => word.normalize("NFD")]) {
    const [set, unset] = [form(yes), form(no)];
    const { rows } = read(`language,phrase,forbidden,caseSensitive\nsv,a,${set},${unset}\nsv,b,${unset}, ${set} \n`);
    expect(rows).toEqual([
      { language: "sv", phrase: "a", forbidden: true, caseSensitive: false },
      { language: "sv", phrase: "b", forbidden: false, caseSensitive: true },
    ]);
  }
});

test("a word that is no boolean is passed on as text", () => {
  expect(read("language,phrase,forbidden\nsv,a,ja\n").rows).toEqual([{ language: "sv", phrase: "a", forbidden: "ja" }]);
});

test.each([
  ["sep=;", "sep=;", "language;phrase", "sv;a, b"],
  ["sep=; after a byte order mark", "\ufeffsep=;", "phrase;language", '"a, b";sv'],
  ["sep=; in quotes", '"sep=;"', "language;phrase", "sv;a, b"],
  ["SEP=,", "SEP=,", "language,phrase", 'sv,"a, b"'],
])("a first line with %s is skipped without a shift of line numbers", (_, ...lines) => {
  expect(read(lines.join("\r\n"))).toEqual({ rows: [{ language: "sv", phrase: "a, b" }], lines: [3] });
});

test("names of columns are recognised with white space around them and in any case", () => {
  expect(read("Language, PHRASE ,casesensitive\nsv,a,true\n").rows).toEqual([
    { language: "sv", phrase: "a", caseSensitive: true },
  ]);
});

test.each([
  ["LF", "\n"],
  ["CRLF", "\r\n"],
])("line numbers are those of the file, also after quoted line breaks and blank lines, with %s", (_, eol) => {
  const { rows, lines } = read(["\ufefflanguage,phrase", "", 'sv,"a', 'b"', "sv,c", "", "", "sv,d"].join(eol));
  expect(rows).toHaveLength(3);
  expect(lines).toEqual([3, 5, 8]);
});

test("line ends may be mixed", () => {
  expect(read("language,phrase\nsv,a\r\nsv,b\n").rows).toEqual([
    { language: "sv", phrase: "a" },
    { language: "sv", phrase: "b" },
  ]);
});

test.each([
  ["a quote in a plain cell", "line 3: a quote stands where none may", 'language,phrase\nsv,a\nsv,b"c\n'],
  ["text behind a quoted cell", "line 3: a quote stands where none may", 'language,phrase\nsv,a\nsv,"b"c\n'],
  ["an open quote", "line 4: a quote is not closed", 'language,phrase\r\nsv,"x\r\ny"\r\nsv,"b\r\n'],
  ["tabs", "columns are separated by tabs; use commas or semicolons", "language\tphrase\nsv\ta"],
  ["two separators", 'line 1: the column "language;phrase" is unknown', "language;phrase,description\nsv;a,b"],
  ["a repeated column", 'line 1: the column "language" is there twice', "Language,language,phrase\nsv,sv,a"],
  ["an unknown column", 'line 1: the column "word" is unknown', "language;word\nsv;a"],
  ["a column without a name", 'line 2: the column "" is unknown', ",,\nlanguage,,\nsv,a,"],
  ["a cell of 400 KB", "line 3: a row has at most 256 KiB", `language,phrase\nsv,a\nsv,"${"b\n".repeat(200_000)}`],
  ["a row of 300,000 commas", "line 3: a row has at most 256 KiB", `language,phrase\nsv,a\nsv${",".repeat(300_000)}\n`],
  ["50,001 blank lines", "at most 50,000 rows", `language,phrase${"\n".repeat(50_002)}`],
])("a file with %s is refused: %s", (_, words, text) => {
  expect(() => read(text)).toThrow(words);
});

const cell = fc.string({ unit: fc.constantFrom('"', ",", "\r\n", "\n", "å", " ", "😀", "|", ";", "") });
// A row of empty cells would be a blank line.
const phraseCell = cell.map((text) => `x${text}`);

/** Rows of cells, and a file in which all their cells are quoted as RFC 4180 says. */
const quotedFiles = fc
  .tuple(fc.array(fc.tuple(cell, phraseCell), { minLength: 1 }), fc.constantFrom("\n", "\r\n"))
  .map(([cells, eol]) => {
    const quoted = cells.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(","));
    return { cells, quoted, text: ["language,phrase", ...quoted].join(eol) };
  });

test("cells quoted as RFC 4180 says are read unchanged", () => {
  fc.assert(
    fc.property(quotedFiles, ({ cells, text }) => {
      expect(read(text).rows).toEqual(cells.map(([language, phrase]) => ({ language, phrase })));
    }),
  );
});

test("each row has the line on which it begins, also among quoted line breaks", () => {
  fc.assert(
    fc.property(quotedFiles, ({ quoted, text }) => {
      const { lines } = read(text);
      let line = 2;
      for (const [position, row] of quoted.entries()) {
        expect(lines[position]).toBe(line);
        line += row.split("\n").length;
      }
    }),
  );
});

test("a large file is read in batches of about 16 KiB, each row with its value and line", () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => `sv,"${"x\n".repeat((n % 7) * (n % 5))}${n}"`);
  const turns = Array.from(readCsv(Buffer.from(["language,phrase", ...rows].join("\r\n"))));
  const bytes = rows.map((row) => row.length + 2);
  expect(turns).toHaveLength(Math.ceil(bytes.reduce((sum, size) => sum + size, 0) / (16 * 1024)));
  let line = 2;
  for (const [position, { value, line: found }] of turns.flat().entries()) {
    expect([found, `sv,"${(value as { phrase: string }).phrase}"`]).toEqual([line, rows[position]]);
    line += rows[position]!.split("\n").length;
  }
});

test("the rows that are counted before a file is parsed are never fewer than those that csv-parse finds", () => {
  const text = fc.string({ unit: fc.constantFrom('"', ",", "\n", "\r\n", "x", "\r"), maxLength: 60 });
  const options = { record_delimiter: ["\r\n", "\n"], skip_empty_lines: true, relax_column_count: true };
  fc.assert(
    fc.property(text, (text) => {
      let found = 0;
      const count = () => {
        found += 1;
        return undefined;
      };
      try {
        parse(text, { ...options, on_record: count });
      } catch {
        // The records before the fault are counted.
      }
      const counter = new RowCounter(new CsvRowScanner());
      counter.add(Buffer.from(text));
      expect(counter.rows).toBeGreaterThanOrEqual(found);
    }),
    { numRuns: 3_000 },
  );
});
