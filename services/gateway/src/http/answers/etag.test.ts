import { expect, test } from "vitest";
import { heldTag, holdsCopy, weakTag } from "./etag.ts";

const sent = (ifNoneMatch: string | undefined) => ({ header: () => ifNoneMatch });

test("If-None-Match names a copy by its tag, weak or strong, or any copy by *", () => {
  expect(holdsCopy(sent('W/"y", "x"'), 'W/"x"')).toBe(true);
  expect(holdsCopy(sent('W/"x"'), 'W/"x"')).toBe(true);
  expect(holdsCopy(sent(" * "), 'W/"x"')).toBe(true);
  expect(holdsCopy(sent('"a,*,x"'), 'W/"x"')).toBe(false);
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
