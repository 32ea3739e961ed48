import { expect, test } from "vitest";
import { partsOf } from "./phrase-file.ts";
import { splitCsv } from "./split-csv.ts";

const phrasesIn = (text: string, format: "words" | "json") =>
  partsOf(text, format, "sv").flatMap((part) => JSON.parse(part.text) as { language: string; phrase: string }[]);

test("a list of words has one word a line, and blank lines and CR are dropped", () => {
  expect(phrasesIn("å\r\n\r\n två ord \nö", "words")).toEqual([
    { language: "sv", phrase: "å" },
    { language: "sv", phrase: "två ord" },
    { language: "sv", phrase: "ö" },
  ]);
});

test("JSON may be an array or an export of phrases, and any other form is refused", () => {
  expect(phrasesIn('[{"phrase":"a"}]', "json")).toEqual([{ phrase: "a" }]);
  expect(phrasesIn('{"phrases":[{"phrase":"a"}]}', "json")).toEqual([{ phrase: "a" }]);
  for (const text of ["{", "5", "null", '{"data":[]}']) {
    expect(() => partsOf(text, "json", "")).toThrow(SyntaxError);
  }
});

test("a CSV is cut between records, and faults name the lines of the whole file", () => {
  const rows = Array.from({ length: 50_001 }, (_, n) => `sv,"ord\r\n""${n}"""\r\n`);
  const [first, second, ...others] = partsOf(`language,phrase\r\n${rows.join("")}`, "csv", "");
  expect(others).toHaveLength(4);
  expect([first!.rows, second!.rows, others.at(-1)!.rows]).toEqual([10_000, 10_000, 1]);
  expect(second!.text.startsWith('language,phrase\nsv,"ord\r\n""10000"""\r\nsv,')).toBe(true);
  expect(first!.nameOfRow({ line: 2 })).toBe("line 2");
  expect(second!.nameOfRow({ line: 4 })).toBe("line 20004");
});

test("blank lines of a CSV do not shift the line numbers of later rows", () => {
  const [part] = partsOf('\nlanguage,phrase\n\nsv,a\n\n\nsv,b"', "csv", "");
  // Lines 2 to 5 of the part are lines 4 to 7 of the file, of which two are blank.
  expect(part!.text).toBe('language,phrase\nsv,a\n\n\nsv,b"');
  expect(part!.nameOfRow({ line: 2 })).toBe("line 4");
  expect(part!.nameOfRow({ line: 5 })).toBe("line 7");
});

test("lines with only separators count as blank, around the header and below the rows", () => {
  const [part] = partsOf(",,\r\nlanguage,phrase,id\r\n,,\r\nsv,a,\r\n,,\r\n,,", "csv", "");
  expect(part).toMatchObject({ rows: 1, text: "language,phrase,id\nsv,a,\r\n,,\r\n,," });
  expect(part!.nameOfRow({ line: 2 })).toBe("line 4");
});

test("a line sep=; above the header is left out, and counted as a line", () => {
  for (const first of ["sep=;", '"sep=;"', "SEP=;"]) {
    const [part] = partsOf(`${first}\r\nlanguage;phrase\r\nsv;a\r\n`, "csv", "");
    expect(part).toMatchObject({ rows: 1, text: "language;phrase\nsv;a\r\n" });
    expect(part!.nameOfRow({ line: 2 })).toBe("line 3");
  }
});

test("an empty CSV has no records, and one with only a header has no parts", () => {
  expect(splitCsv("").records).toEqual([]);
  expect(partsOf("language,phrase\n", "csv", "")).toEqual([]);
});

test("a file that fits into one request is one part, and a file with too many rows or bytes is cut", () => {
  const words = (count: number, size: number) => `${"å".repeat(size)}\n`.repeat(count);
  expect(partsOf(words(50_000, 3), "words", "sv")).toHaveLength(1);
  expect(partsOf(words(50_001, 3), "words", "sv")).toHaveLength(6);
  const parts = partsOf(words(30_000, 250), "words", "sv");
  expect(parts.length).toBeGreaterThan(2);
  expect(Math.max(...parts.map(({ text }) => Buffer.byteLength(text)))).toBeLessThan(10 * 1024 * 1024);
  expect(parts.reduce((sum, { rows }) => sum + rows, 0)).toBe(30_000);
});

test("a faulty row of words or JSON is named by its position in the file", () => {
  const [part] = partsOf("\na\n\nb\n", "words", "sv");
  expect(part!.nameOfRow({ index: 1 })).toBe("line 4");
  const [, second] = partsOf(JSON.stringify(Array.from({ length: 50_001 }, () => ({}))), "json", "");
  expect(second!.nameOfRow({ index: 3 })).toBe("index 10003");
});
