import { expect, test } from "vitest";
import { heldTag, holdsCopy, weakTag } from "./etag.ts";

const sent = (ifNoneMatch: string | undefined) => ({ header: () => ifNoneMatch });

test("If-None-Match names a copy by its tag, weak or strong, or any copy by *", () => {
  expect(holdsCopy(sent('W/"y", "x"'), 'W/"x"')).toBe(true);
  expect(holdsCopy(sent(" * "), 'W/"x"')).toBe(true);
  expect(holdsCopy(sent('"a,*,x"'), 'W/"x"')).toBe(false);
  expect(holdsCopy(sent(undefined), 'W/"x"')).toBe(false);
});

test.each([
  [undefined, ""],
  ['"a"', 'W/"a"'],
  ['W/"a"', 'W/"a"'],
  ['"a", "b"', ""],
  ["*", ""],
  ["a", ""],
])("a service gets for If-None-Match %s the tag %j", (ifNoneMatch, held) => {
  expect(heldTag(sent(ifNoneMatch))).toBe(held);
});

test("a weak tag depends on the bytes of a body, not on how they are split", () => {
  expect(weakTag("a")).toMatch(/^W\/"[\w-]{27}"$/);
  expect(weakTag("ab")).toBe(weakTag([Buffer.from("a"), Buffer.from("b")]));
  expect(weakTag("a")).not.toBe(weakTag("b"));
});
