import { expect, test } from "vitest";
import { heldTag, holdsCopy, weakTag } from "./etag.ts";

const sent = (ifNoneMatch: string | undefined) => ({ header: () => ifNoneMatch });

test.each(['W/"x"', '"x"', 'W/"y", "x"', " * "])(
  'a client with If-None-Match %s holds the copy with the tag W/"x"',
  (ifNoneMatch) => {
    expect(holdsCopy(sent(ifNoneMatch), 'W/"x"')).toBe(true);
  },
);

test('a client with If-None-Match "a,*,x", which is one tag, does not hold the copy with the tag W/"x"', () => {
  expect(holdsCopy(sent('"a,*,x"'), 'W/"x"')).toBe(false);
});

test("a client without If-None-Match holds no copy", () => {
  expect(holdsCopy(sent(undefined), 'W/"x"')).toBe(false);
});

test.each(['"a"', 'W/"a"'])("a service gets the weak tag for If-None-Match %s", (ifNoneMatch) => {
  expect(heldTag(sent(ifNoneMatch))).toBe('W/"a"');
});

test.each([
  ["two tags", '"a", "b"'],
  ["*", "*"],
  ["a text without quotes", "a"],
])("a service gets no tag for If-None-Match with %s", (_, ifNoneMatch) => {
  expect(heldTag(sent(ifNoneMatch))).toBe("");
});

test("a service gets no tag without If-None-Match", () => {
  expect(heldTag(sent(undefined))).toBe("");
});

test("a weak tag depends on the bytes of a body, not on how they are split", () => {
  expect(weakTag("a")).toMatch(/^W\/"[\w-]{27}"$/);
  expect(weakTag("ab")).toBe(weakTag([Buffer.from("a"), Buffer.from("b")]));
  expect(weakTag("a")).not.toBe(weakTag("b"));
});
