import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { compileSchema } from "./compile-schema.ts";
import { formatRules } from "./formats.ts";

function check(format: string) {
  return compileSchema(
    {
      anyOf: [
        { type: "number", format },
        { type: "string", format },
      ],
    },
    { strict: false },
  );
}

/**
 * Texts that are hard for regular expressions and parsers: beginnings, long repetitions, and ends
 * that make the whole text invalid.
 */
const beginnings = [
  "",
  "http://",
  "a://",
  "http://a@",
  "http://[",
  "a@",
  "P",
  "PT",
  "#/",
  "/",
  "{",
  "2020-01-01T",
  "10:00:00.",
  "urn:uuid:",
  "0",
  "(",
  "[",
];
const repeated = [
  "a",
  "A",
  "1",
  "0",
  ":",
  "-",
  ".",
  "/",
  "@",
  "=",
  "~1",
  "%20",
  "{a}",
  "{a,",
  "a:",
  "a.",
  "a-",
  "-a",
  "1.",
  "::",
  "AAAA",
  "AAAA\n",
  "1D",
  "#",
  "?",
  "é",
  "\\",
  " ",
  "(",
  "()",
  "(?<a>)",
  "a|",
  "[a]",
  "a{9}",
  "\\1",
  "T",
];
const ends = ["", "!", "\u0000", "="];

/** Milliseconds of the fastest of three runs. */
function fastest(run: () => unknown): number {
  const times = [0, 1, 2].map(() => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return Math.min(...times);
}

describe.each([...formatRules.keys()])("format %s", (format) => {
  test("takes less than 100 ms for hard texts of 60,000 characters", () => {
    const validate = check(format);
    const slow: string[] = [];
    for (const beginning of beginnings) {
      for (const part of repeated) {
        for (const end of ends) {
          const text = beginning + part.repeat(60_000 / part.length) + end;
          if (fastest(() => validate(text)) > 100) slow.push(JSON.stringify([beginning, part, end]));
        }
      }
    }
    expect(slow).toEqual([]);
  });
});

test.each([
  ["https://a.example/b?c=d#e", true],
  ["HTTP://localhost:8080", true],
  ["ftp://a.example/é", true],
  ["a.example", false],
  ["mailto:a@b.example", false],
  ["javascript:alert(1)", false],
  ["http://", false],
  ["http://a b", false],
  ["http://[::g]/", false],
])("format url accepts %s: %s", (text, isOne) => {
  expect(check("url")(text)).toBe(isOne);
});

test.each([
  ["a@b.example", true],
  ["a@", false],
])("format email accepts %s: %s", (text, isOne) => {
  expect(check("email")(text)).toBe(isOne);
});

test("format email takes 254 characters and not 255", () => {
  expect(check("email")(`${"a".repeat(64)}@${"b".repeat(185)}.com`)).toBe(true);
  expect(check("email")(`${"a".repeat(64)}@${"b".repeat(186)}.com`)).toBe(false);
});

test("a schema that names an unknown format is refused", () => {
  expect(() => compileSchema({ type: "string", format: "no-such" }, { strict: true })).toThrow("no-such");
});

test("docs/editors.md names every format", () => {
  const guide = readFileSync(new URL("../../../../../docs/editors.md", import.meta.url), "utf8");
  expect([...formatRules.keys()].filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});
