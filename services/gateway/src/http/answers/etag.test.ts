import { expect, test } from "vitest";
import { holdsCopy, listedTags, weakTag } from "./etag.ts";

test.each([
  [undefined, []],
  ["", []],
  ["unquoted", []],
  ['"a"', ['"a"']],
  ['W/"a"', ['"a"']],
  ['"a", W/"b,c" ,"d"', ['"a"', '"b,c"', '"d"']],
  ["*", []],
])("%s lists %j", (header, tags) => {
  expect(listedTags(header)).toEqual(tags);
});

const sent = (ifNoneMatch: string | undefined) => ({ header: () => ifNoneMatch });

test("tags are compared weakly, and * holds any copy", () => {
  expect(holdsCopy(sent('"x"'), 'W/"x"')).toBe(true);
  expect(holdsCopy(sent('W/"y", W/"x"'), 'W/"x"')).toBe(true);
  expect(holdsCopy(sent(" * "), 'W/"x"')).toBe(true);
  expect(holdsCopy(sent('W/"y"'), 'W/"x"')).toBe(false);
  expect(holdsCopy(sent(undefined), 'W/"x"')).toBe(false);
});

test("a tag is weak, short, and another one for other bytes", () => {
  expect(weakTag("a")).toMatch(/^W\/"[\w-]{27}"$/);
  expect(weakTag("a")).toBe(weakTag(Buffer.from("a")));
  expect(weakTag("a")).not.toBe(weakTag("b"));
});
