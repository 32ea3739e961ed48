import { expect, test } from "vitest";
import { loggedPath } from "./logged-path.ts";

test("control and non-ASCII characters of a path are replaced by ? in a log", () => {
  expect(loggedPath("/a\u001b[2Jb\u0085\u00ff\n")).toBe("/a?[2Jb???");
});
