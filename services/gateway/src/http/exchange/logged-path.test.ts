import { expect, test } from "vitest";
import { loggedPath } from "./logged-path.ts";

test("what no terminal should print is replaced", () => {
  expect(loggedPath("/a\u001b[2Jb\u0085\u00ff\n")).toBe("/a?[2Jb???");
});
