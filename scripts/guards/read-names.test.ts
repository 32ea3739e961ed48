import { expect, test } from "vitest";
import { readNames } from "./read-names.ts";
import { here } from "./tree.ts";

const names = readNames(here);

test.each(Object.keys(names))("readNames finds names of the kind %s", (kind) => {
  expect(names[kind]?.join("")).not.toBe("");
});

test("the log line of a call, whose level is computed, is among the names", () => {
  expect(names["logs"]).toContain('level level === "error" ? { ...line, err: bug } : line, "call"');
});

test("a log line whose message is computed is among the names, with the expression as its message", () => {
  expect(names["logs"]).toContain("warn {err} failure");
});

test("environment variables of one word are among the names", () => {
  expect(names["environment"]).toEqual(expect.arrayContaining(["DOCS", "HOST", "MIGRATE", "SIGNING"]));
});
