import { expect, test } from "vitest";
import { passagesOf, testFilesOf } from "./fault-passages.ts";
import { seededFaults } from "./fault-table.ts";
import { filesOf, here } from "./tree.ts";

const files = filesOf(here);

const named = seededFaults.map((fault) => [fault.name, fault] as const);

test.each(named)('seeded fault "%s": the text that it replaces is in the sources exactly once', (_name, { search }) => {
  expect(passagesOf(search, here, files).map(({ file }) => file)).toHaveLength(1);
});

test.each(named)('seeded fault "%s": each test file that it names exists', (_name, { tests }) => {
  for (const each of tests) expect(testFilesOf(each, files), each).not.toEqual([]);
});
