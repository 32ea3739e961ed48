import { expect, test } from "vitest";
import { passagesOf, testFilesOf } from "./fault-passages.ts";
import { seededFaults } from "./fault-table.ts";
import { filesOf, here } from "./tree.ts";

const files = filesOf(here);

const named = seededFaults.map((fault) => [fault.name, fault] as const);

test.each(named)("%s: its text is in the sources once", (_name, { search }) => {
  expect(passagesOf(search, here, files).map(({ file }) => file)).toHaveLength(1);
});

test.each(named)("%s: its test files exist", (_name, { tests }) => {
  for (const each of tests) expect(testFilesOf(each, files), each).not.toEqual([]);
});
