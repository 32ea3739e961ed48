import { expect, test } from "vitest";
import { declaredEncoding, readAffixRules } from "./affix-rules.ts";
import { readDictionary } from "./read-dictionary.ts";

function read(dic: readonly string[], aff: readonly string[]) {
  const { words, leftOut } = readDictionary(dic.join("\n"), readAffixRules(aff.join("\n")));
  return { words: words.map(({ text, forbidden, at }) => `${at} ${forbidden ? "*" : ""}${text}`), leftOut };
}

const nothing = { comments: 0, fragments: 0, stems: 0, duplicates: 0 };

test("German: lines that hold no complete word (licence, part of compounds, bare stem) are left out", () => {
  const aff = ["SET UTF-8", "COMPOUNDBEGIN x", "FORBIDDENWORD d", "ONLYINCOMPOUND o", "NEEDAFFIX h", "NOSUGGEST n"];
  const dic = ["8", "\tWörterbuch", "", "\tLizenz: GPL", "Abbau/STm", "abbau/STozm", "Absicherungs/hij", "Amtsfuß/dS"];
  expect(read([...dic, "Mistkerl/n", "Und\r"], aff)).toEqual({
    words: ["5 Abbau", "8 *Amtsfuß", "9 Mistkerl", "10 Und"],
    leftOut: { ...nothing, comments: 2, fragments: 1, stems: 1 },
  });
});

test("Swedish: flags may be beyond ASCII", () => {
  const aff = ["SET UTF-8", "FORBIDDENWORD %", "NEEDAFFIX ¤", "COMPOUNDBEGIN X", "COMPOUNDEND Y", "ONLYINCOMPOUND Z"];
  const dic = ["9", "-/-06XY", "0/01", "Lund/X", "tröja/AY", "tröj/XZ", "gen/¤AB", "leksand/%A", "Leksand/A"];
  expect(read(dic, aff)).toEqual({
    words: ["2 -", "3 0", "4 Lund", "5 tröja", "8 *leksand", "9 Leksand"],
    leftOut: { ...nothing, fragments: 1, stems: 1 },
  });
});

test("Swedish: a word is forbidden if any of its entries is", () => {
  expect(read(["3", "bil/A", "bil/%", "bil"], ["SET UTF-8", "FORBIDDENWORD %"])).toEqual({
    words: ["2 *bil"],
    leftOut: { ...nothing, duplicates: 2 },
  });
});

test("English: a word ends before its flags or morphological fields, not at a space or escaped slash", () => {
  const aff = ["SET UTF-8", "ONLYINCOMPOUND c", "FORBIDDENWORD !  # comment"];
  const dic = ["7", "1th/tc", "km\\/h", "TCP\\/IP/X", "and po:noun", "New York/M\tpo:name", "# CC0", "/"];
  expect(read(dic, aff)).toEqual({
    words: ["3 km/h", "4 TCP/IP", "5 and", "6 New York"],
    leftOut: { ...nothing, comments: 1, fragments: 1 },
  });
});

test("English: a forbidden word that is also a part of compounds is not left out", () => {
  const aff = ["SET UTF-8", "ONLYINCOMPOUND c", "FORBIDDENWORD !  # comment"];
  expect(read(["1", "alot/!c"], aff)).toEqual({ words: ["2 *alot"], leftOut: nothing });
});

test("Hungarian: a number after the slash stands for the flags of the AF line with that number", () => {
  const aff = [
    "SET UTF-8",
    "FLAG long",
    "AF 3",
    "AF AaZz # 1",
    "AF AaFo",
    "AF NaBb",
    "FORBIDDENWORD Fo",
    "NEEDAFFIX Na",
  ];
  expect(read(["4", "asztal/1\t12", "asztall/2", "vesszej/3 12", "ház/1", "kert"], aff)).toEqual({
    words: ["2 asztal", "3 *asztall", "5 ház", "6 kert"],
    leftOut: { ...nothing, stems: 1 },
  });
});

test.each([
  ["single characters", [], "xF", "xf"],
  ["two characters", ["FLAG long"], "xFFo", "Fxox"],
  ["numbers", ["FLAG num"], "12,7", "127"],
  ["UTF-8", ["FLAG UTF-8"], "a\u{1f600}", "ab"],
] as const)("flags of %s are told apart", (_, declared, forbidden, other) => {
  const flag = { "": "F", "FLAG long": "Fo", "FLAG num": "7", "FLAG UTF-8": "\u{1f600}" }[declared[0] ?? ""];
  const aff = [...declared, `FORBIDDENWORD ${flag}`];
  expect(read(["2", `a/${forbidden}`, `b/${other}`], aff).words).toEqual(["2 *a", "3 b"]);
});

test("words that differ only in Unicode normal form are one word", () => {
  expect(read(["3", "Ko\u0308ln", "Köln", "köln"], []).words).toEqual(["2 Köln", "4 köln"]);
});

test("a first line that is no count is a word", () => {
  expect(read(["Köln", "köln"], []).words).toEqual(["1 Köln", "2 köln"]);
});

test.each([
  ["SET UTF-8", "UTF-8"],
  ["\ufeffSET UTF-8", "UTF-8"],
  ["# comment\nSET ISO8859-2", "ISO-8859-2"],
  ["SET microsoft-cp1251\r\nTRY a", "windows-1251"],
  ["SET KOI8-R", "KOI8-R"],
  ["SET TIS620-2533", "tis-620"],
  ["TRY SET", "utf-8"],
])("the encoding of an .aff file with %j is %s, which Node can decode", (aff, encoding) => {
  expect(declaredEncoding(Buffer.from(aff))).toBe(encoding);
  expect(new TextDecoder(encoding).encoding).toBeTypeOf("string");
});
