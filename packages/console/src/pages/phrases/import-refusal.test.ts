import { expect, it } from "vitest";
import { showRefusal } from "./import-refusal.ts";

const shown = (text: string) =>
  showRefusal({ summary: "", faults: [{ line: 2, column: "phrase", message: "", text }] }).toString();

it.each([
  ["of 300 characters stands in the table", 300, false],
  ["of 301 characters begins in the table, and can be unfolded whole", 301, true],
])("a faulty line %s", (_, length, isFolded) => {
  const text = "x".repeat(length);
  expect(shown(text)).toContain(`<code dir="auto">${text}</code>`);
  expect(shown(text).includes("<details")).toBe(isFolded);
  expect(shown(text).includes(`${"x".repeat(300)}…`)).toBe(isFolded);
});

it("at most 2,000 characters of a faulty line are on the page", () => {
  expect(shown("x".repeat(2_001))).toContain(`<code dir="auto">${"x".repeat(2_000)}</code>… (and more)`);
});
