/**
 * Puts each fault of `faults/` into the sources of a commit and runs its test files, in which a
 * test must fail: `npm run faults:seeded -- COMMIT`, HEAD by default; further words select faults
 * by their names. After a change of the structure of the code every fault must still make a test
 * fail. Takes some minutes and is not part of CI.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { passagesOf, testFilesOf } from "./fault-passages.ts";
import { seededFaults } from "./fault-table.ts";
import type { SeededFault } from "./faults/seeded-fault.ts";
import { filesOf, openTree } from "./tree.ts";

const [ref = "HEAD", ...words] = process.argv.slice(2);
const chosen = seededFaults.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
using tree = openTree(ref);
const files = filesOf(tree.dir);

const wrong: string[] = [];
const note = (what: string, verdict: string, isRight: boolean, startedMs: number) => {
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${isRight ? "ok  " : "FAIL"} ${seconds.padStart(6)} s  ${verdict.padEnd(7)} ${what}`);
  if (!isRight) wrong.push(what);
};

const unknown = chosen.flatMap(({ tests }) => tests).filter((test) => testFilesOf(test, files).length === 0);
if (unknown.length > 0) throw new Error(`no test file for ${unknown.join(", ")}`);

// Without a fault all these tests must pass; otherwise a failure would prove nothing.
const started = performance.now();
const plain = run([...new Set(chosen.flatMap(({ tests }) => tests))]);
note(
  `without a fault${plain.failed.map((title) => `\n      ${title}`).join("")}`,
  plain.verdict,
  plain.verdict === "green",
  started,
);
for (const fault of chosen) {
  const startedMs = performance.now();
  const verdict = seed(fault);
  note(fault.name, verdict, verdict === "red", startedMs);
}
console.log(`${chosen.length} faults, ${wrong.length} not as they must be`);
if (wrong.length > 0) process.exitCode = 1;

function seed({ search, replacement, tests }: SeededFault): string {
  const found = passagesOf(search, tree.dir, files);
  const [passage] = found;
  if (!passage || found.length > 1) return `found ${found.length} times`;
  const path = join(tree.dir, passage.file);
  writeFileSync(path, passage.before + replacement + passage.after);
  try {
    return run(tests).verdict;
  } finally {
    writeFileSync(path, passage.before + passage.found + passage.after);
  }
}

/** Runs test files: `red` when a test failed, `broken` when a file could not be run. */
function run(tests: readonly string[]): { readonly verdict: string; readonly failed: readonly string[] } {
  const json = join(tree.dir, "result.json");
  rmSync(json, { force: true });
  const projects = [...new Set(tests.map((test) => test.split(" ")[0] ?? ""))];
  const { stderr, stdout } = spawnSync(
    process.execPath,
    [
      join(tree.dir, "node_modules/vitest/vitest.mjs"),
      "run",
      ...projects.flatMap((project) => ["--project", project]),
      ...tests.flatMap((test) => testFilesOf(test, files)),
      "--reporter=json",
      `--outputFile=${json}`,
      "--testTimeout=30000",
      "--hookTimeout=60000",
    ],
    { cwd: tree.dir, encoding: "utf8", timeout: 600_000 },
  );
  let result: VitestResult;
  try {
    result = JSON.parse(readFileSync(json, "utf8"));
  } catch {
    return { verdict: "broken", failed: [stderr.slice(-1_000), stdout.slice(-1_000)] };
  }
  const failed = result.testResults.flatMap(({ assertionResults }) =>
    assertionResults.flatMap(({ status, fullName }) => (status === "failed" ? [fullName] : [])),
  );
  const isBroken = result.testResults.some(({ assertionResults }) => assertionResults.length === 0);
  const verdict = failed.length > 0 ? "red" : isBroken || !result.success ? "broken" : "green";
  return { verdict, failed };
}

interface VitestResult {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}
