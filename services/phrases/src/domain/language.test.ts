import { expect, test } from "vitest";
import { canonicalLanguage, languageFault } from "./language.ts";

test.each([
  ["SV-se", "sv-SE"],
  ["iw", "he"],
  ["eng", "en"],
  ["no", "no"],
  ["nb", "nb"],
  ["ZH-hans-cn", "zh-Hans-CN"],
  ["es-419", "es-419"],
  ["sl-rozaj-biske", "sl-biske-rozaj"],
  ["und", "und"],
])("%s is %s, and stays so", (tag, canonical) => {
  expect(canonicalLanguage(tag)).toBe(canonical);
  expect(canonicalLanguage(canonical)).toBe(canonical);
});

test.each([
  "",
  "s",
  "sv_SE",
  "english",
  "swedish",
  "i-klingon",
  "x-private",
  "en-x-private",
  "en-u-co-phonebk",
  "sv ",
  "a".repeat(36),
])("%j is no language", (tag) => {
  expect(canonicalLanguage(tag)).toBeUndefined();
  expect(canonicalLanguage(tag)).toBeUndefined();
});

test("a tag with an underscore is refused with the tag it was meant to be, and a long one is cut", () => {
  expect(languageFault("sv_SE")).toContain('"sv_SE" (did you mean "sv-SE"?)');
  expect(languageFault("x".repeat(10_000)).length).toBeLessThan(120);
});
