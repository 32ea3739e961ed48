import { expect, test } from "vitest";
import { readNames } from "./read-names.ts";
import { here } from "./tree.ts";

const names = readNames(here);

test.each(Object.keys(names))("the sources have names of the kind %s", (kind) => {
  expect(names[kind]?.join("")).not.toBe("");
});

test("the log line of a call, whose level is computed, is among the names", () => {
  expect(names["logs"]).toContain('level level === "error" ? { ...line, err: bug } : line, "call"');
});
