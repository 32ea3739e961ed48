import { matchesGlob } from "node:path";
import { describe, expect, test } from "vitest";
import { longest } from "../../tests/support/longest-first.ts";
import config, { plaintextOnly } from "../../vitest.config.ts";
import faultsConfig, { timed } from "../../vitest.faults.config.ts";
import { testSteps } from "./test-steps.ts";
import { filesOf, here } from "./tree.ts";

const files = filesOf(here).filter((file) => file.endsWith(".test.ts"));
const filters = testSteps(here).flatMap(({ script, args, filters }) =>
  filters.map((filter) => ({ script, filter, patterns: includedBy(args) })),
);

/** The globs of the projects that a script names; if it names none, of all in its configuration. */
function includedBy(args: readonly string[]): readonly string[] {
  const { test: settings } = args.includes("vitest.faults.config.ts") ? faultsConfig : config;
  const projects = (settings?.projects ?? []).flatMap((project) => {
    return typeof project === "object" && "test" in project ? [project.test] : [];
  });
  const named = projects.filter((project) => typeof project?.name === "string" && args.includes(project.name));
  return (named.length > 0 ? named : projects).flatMap((project) => project?.include ?? []);
}

describe("names of test files in scripts and settings", () => {
  test("test:custody and test:mtls filter test files by their paths", () => {
    expect(filters.map(({ script }) => script)).toEqual(expect.arrayContaining(["test:custody", "test:mtls"]));
  });

  test.each(filters)("$script finds a file by $filter", ({ filter, patterns }) => {
    const found = files.filter((file) => patterns.some((pattern) => matchesGlob(file, pattern)));
    expect(found.filter((file) => file.includes(filter))).not.toEqual([]);
  });

  test.each(plaintextOnly)("plaintextOnly names exactly one test file by %s", (name) => {
    expect(files.filter((file) => matchesGlob(file, `tests/${name}.test.ts`))).toHaveLength(1);
  });

  test.each(timed)("timed names exactly one test file by %s", (path) => {
    expect(files.filter((file) => matchesGlob(file, path))).toHaveLength(1);
  });

  test.each(longest)("longest names exactly one test file by %s", (name) => {
    expect(files.filter((file) => `/${file}`.endsWith(`/tests/${name}.test.ts`))).toHaveLength(1);
  });
});
