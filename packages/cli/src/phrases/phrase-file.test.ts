import { expect, test } from "vitest";
import { partsOf } from "./phrase-file.ts";
import { splitCsv } from "./split-csv.ts";

const phrasesIn = (text: string, format: "words" | "json") =>
  partsOf(text, format, "sv").flatMap((part) => JSON.parse(part.text) as { language: string; phrase: string }[]);

test("each line of a list of words, unless blank, is one phrase, without the blanks and CR around it", () => {
  expect(phrasesIn("å\r\n\r\n två ord \nö", "words")).toEqual([
    { language: "sv", phrase: "å" },
    { language: "sv", phrase: "två ord" },
    { language: "sv", phrase: "ö" },
  ]);
});

test("JSON must be an array or an export of phrases", () => {
  expect(phrasesIn('[{"phrase":"a"}]', "json")).toEqual([{ phrase: "a" }]);
  expect(phrasesIn('{"phrases":[{"phrase":"a"}]}', "json")).toEqual([{ phrase: "a" }]);
  for (const text of ["{", "5", "null", '{"data":[]}']) {
    expect(() => partsOf(text, "json", "")).toThrow(SyntaxError);
  }
});

function partsOfLongCsv() {
  const rows = Array.from({ length: 50_001 }, (_, n) => `sv,"ord\r\n""${n}"""\r\n`);
  return partsOf(`language,phrase\r\n${rows.join("")}`, "csv", "");
}

test("a CSV is cut between records, never at a line break within one", () => {
  const [first, second, ...others] = partsOfLongCsv();
  expect(others).toHaveLength(4);
  expect([first!.rows, second!.rows, others.at(-1)!.rows]).toEqual([10_000, 10_000, 1]);
  expect(second!.text.startsWith('language,phrase\nsv,"ord\r\n""10000"""\r\nsv,')).toBe(true);
  const whole = /^language,phrase\n(?:sv,"ord\r\n""\d+"""\r\n)+$/;
  expect([first, second, ...others].filter((part) => !whole.test(part!.text))).toEqual([]);
});

test("a faulty row in a part of a CSV is named by its line in the whole file", () => {
  const [first, second] = partsOfLongCsv();
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

test("a line sep=; above the header is left out without a shift of the line numbers of rows", () => {
  for (const first of ["sep=;", '"sep=;"', "SEP=;"]) {
    const [part] = partsOf(`${first}\r\nlanguage;phrase\r\nsv;a\r\n`, "csv", "");
    expect(part).toMatchObject({ rows: 1, text: "language;phrase\nsv;a\r\n" });
    expect(part!.nameOfRow({ line: 2 })).toBe("line 3");
  }
});

test("an empty CSV has no records", () => {
  expect(splitCsv("").records).toEqual([]);
});

test("a CSV with only a header has no parts", () => {
  expect(partsOf("language,phrase\n", "csv", "")).toEqual([]);
});

const words = (count: number, size: number) => `${"å".repeat(size)}\n`.repeat(count);

test("a file of 50,000 rows is one part, and a file of 50,001 rows is cut into six", () => {
  expect(partsOf(words(50_000, 3), "words", "sv")).toHaveLength(1);
  expect(partsOf(words(50_001, 3), "words", "sv")).toHaveLength(6);
});

test("a file of 15 MB is cut into parts below 10 MiB, whose rows add up to those of the file", () => {
  const parts = partsOf(words(30_000, 250), "words", "sv");
  expect(parts.length).toBeGreaterThan(2);
  expect(Math.max(...parts.map(({ text }) => Buffer.byteLength(text)))).toBeLessThan(10 * 1024 * 1024);
  expect(parts.reduce((sum, { rows }) => sum + rows, 0)).toBe(30_000);
});

test("a faulty row of a list of words is named by its line in the file", () => {
  const [part] = partsOf("\na\n\nb\n", "words", "sv");
  expect(part!.nameOfRow({ index: 1 })).toBe("line 4");
});

test("a faulty row in a part of a JSON file is named by its index in the whole file", () => {
  const [, second] = partsOf(JSON.stringify(Array.from({ length: 50_001 }, () => ({}))), "json", "");
  expect(second!.nameOfRow({ index: 3 })).toBe("index 10003");
});
