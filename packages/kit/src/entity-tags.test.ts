import { expect, test } from "vitest";
import { matchesEntityTag, parseEntityTags } from "./entity-tags.ts";

test.each([
  ["", []],
  [" , ,", []],
  ['"a"', ['"a"']],
  ['W/"a"', ['"a"']],
  ['""', ['""']],
  ['"a", W/"b,c" ,"d"', ['"a"', '"b,c"', '"d"']],
  [',"a",,\t"b",', ['"a"', '"b"']],
  ['"a,*,b"', ['"a,*,b"']],
  ['"*"', ['"*"']],
  ['"\xe5"', ['"\xe5"']],
  ["*", "*"],
  [" *\t", "*"],
])("an If-None-Match of %j names %j", (field, tags) => {
  expect(parseEntityTags(field)).toEqual(tags);
});

test("a request without an If-None-Match names no tag", () => {
  expect(parseEntityTags(undefined)).toEqual([]);
});

test.each([
  "unquoted",
  'w/"a"',
  'W/ "a"',
  '"a" "b"',
  '"a"b',
  '"a',
  '"a", b',
  '*, "a"',
  '"a", *',
  "**",
  '"a b"',
  '"a\x7f"',
  '"a\\""',
])("an If-None-Match of %j is malformed and names no tag", (field) => {
  expect(parseEntityTags(field)).toEqual([]);
});

test("an If-None-Match other than * matches a tag that it lists, with or without W/, and no other", () => {
  expect(matchesEntityTag('"x"', 'W/"x"')).toBe(true);
  expect(matchesEntityTag('W/"y", W/"x"', '"x"')).toBe(true);
  expect(matchesEntityTag('W/"y"', 'W/"x"')).toBe(false);
  expect(matchesEntityTag('"a,"x",b"', 'W/"x"')).toBe(false);
  expect(matchesEntityTag("x", 'W/"x"')).toBe(false);
  expect(matchesEntityTag("", 'W/"x"')).toBe(false);
  expect(matchesEntityTag(undefined, 'W/"x"')).toBe(false);
});

test("a lone * matches strong, weak and empty tags", () => {
  for (const tag of ['"x"', 'W/"x"', '""']) expect(matchesEntityTag(" * ", tag)).toBe(true);
});

test("a * within a listed tag matches no other tag", () => {
  expect(matchesEntityTag('"a,*,x"', 'W/"x"')).toBe(false);
});

test("three malformed If-None-Match of over 100,000 characters are parsed within a second", () => {
  const startedMs = performance.now();
  expect(parseEntityTags(' ,\t"a'.repeat(25_000))).toEqual([]);
  expect(parseEntityTags(`${" ".repeat(100_000)}x`)).toEqual([]);
  expect(parseEntityTags(`"a"${" ".repeat(100_000)}x`)).toEqual([]);
  // In quadratic time each of them would take seconds.
  expect(performance.now() - startedMs).toBeLessThan(1_000);
});
