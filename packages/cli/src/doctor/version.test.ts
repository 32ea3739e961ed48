import { expect, test } from "vitest";
import { atLeast } from "./version.ts";

test.each([
  ["6.0.0", "6.0.0", true],
  ["6.0.5", "6.0.0", true],
  ["10.0.0", "6.0.0", true],
  ["5.9.9", "6.0.0", false],
  ["2.9.25", "2.10.0", false],
  ["2.10", "2.10.0", true],
  ["2.11.0-beta.1", "2.10.0", true],
  ["", "6.0.0", false],
])("whether version %j is at least %s is answered with %s", (version, least, expected) => {
  expect(atLeast(version, least)).toBe(expected);
});
