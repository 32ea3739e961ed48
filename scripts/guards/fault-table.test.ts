import { expect, test } from "vitest";
import { passagesOf, testFilesOf } from "./fault-passages.ts";
import { seededFaults } from "./fault-table.ts";
import { filesOf, here } from "./tree.ts";

const files = filesOf(here);

test.each(seededFaults)("$name: its text is in the sources once, and its test files exist", ({ search, tests }) => {
  expect(passagesOf(search, here, files).map(({ file }) => file)).toHaveLength(1);
  for (const each of tests) expect(testFilesOf(each, files), each).not.toEqual([]);
});
