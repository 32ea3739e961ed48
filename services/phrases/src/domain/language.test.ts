import { expect, test } from "vitest";
import { languageFault, parseLanguage } from "./language.ts";

test.each([
  ["SV-se", "sv-SE"],
  ["ZH-hans-cn", "zh-Hans-CN"],
  ["ES-419", "es-419"],
  ["AZ-LATN", "az-Latn"],
  ["DE-ch-1901", "de-CH-1901"],
  ["sl-ROZAJ-biske-1994", "sl-rozaj-biske-1994"],
  ["UND", "und"],
  ["zh-CMN-hans-CN", "zh-cmn-Hans-CN"],
  ["SGN-ase-us", "sgn-ase-US"],
  ["zh-min-NAN", "zh-min-nan"],
  ["EN-gb-OED", "en-GB-oed"],
  ["I-KLINGON", "i-klingon"],
  ["sgn-be-fr", "sgn-BE-FR"],
  ["Art-Lojban", "art-lojban"],
])("%s is kept as %s", (tag, kept) => {
  expect(parseLanguage(tag)).toBe(kept);
  expect(parseLanguage(kept)).toBe(kept);
});

test.each([
  ["iw", "he"],
  ["tl", "fil"],
  ["cmn", "zh"],
  ["zh-cmn", "zh"],
  ["sh", "sr-Latn"],
  ["eng", "en"],
  ["no", "nb"],
  ["i-klingon", "tlh"],
  ["sl-rozaj-biske", "sl-biske-rozaj"],
])("the tag %s is kept, and not replaced by %s", (one, other) => {
  expect([one, other].map(parseLanguage)).toEqual([one, other]);
});

test.each([
  "",
  "s",
  "sv_SE",
  "sv--SE",
  "-sv",
  "sv-",
  "sv ",
  "root",
  "english",
  "abcdefgh",
  "sv-SE-SE",
  "sv-abc-abc-abc-abc",
  "sv-Latn-Latn",
  "i-unknown",
  "x-private",
  "en-x-private",
  "en-u-co-phonebk",
  "de-1901-1901",
  "sl-rozaj-ROZAJ",
  "\u017fv",
  "\u212ao",
  "a".repeat(36),
  `sv${"-abcde".repeat(6)}`,
])("%j is not accepted as a language", (tag) => {
  expect(parseLanguage(tag)).toBeUndefined();
});

test("the message about a tag with an underscore proposes a hyphen", () => {
  expect(languageFault("sv_SE")).toContain('"sv_SE" (did you mean "sv-SE"?)');
});

test("a long tag is cut in the message about it", () => {
  expect(languageFault("x".repeat(10_000)).length).toBeLessThan(120);
});
