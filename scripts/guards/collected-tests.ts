/**
 * Compares the tests that the npm scripts with Vitest collect, by their titles, with those of a
 * commit: `npm run guard:tests -- COMMIT`. Files may move; a title that a step no longer collects
 * fails. Titles made by a loop are compared as written. Without a commit it prints the counts.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { ListedTest } from "./list-tests.ts";
import { testSteps } from "./test-steps.ts";
import { here, openTree } from "./tree.ts";

interface CollectedTest {
  readonly step: string;
  readonly title: string;
  readonly file: string;
}

const [ref] = process.argv.slice(2);
const after = collect(here);
if (ref === undefined) print(after, after);
else {
  using tree = openTree(ref);
  const before = collect(tree.dir);
  const gone = missing(before, after);
  print(before, after);
  for (const { step, title, file } of missing(after, before)) console.log(`new   ${step}  ${file}: ${title}`);
  for (const { step, title, file } of gone) console.error(`GONE  ${step}  ${file}: ${title}`);
  if (gone.length > 0) process.exitCode = 1;
}

/** Starts a process for each step, because steps differ in environment and configuration. */
function collect(dir: string): CollectedTest[] {
  return testSteps(dir).flatMap(({ script, env, args }) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(import.meta.dirname, "list-tests.ts"), ...args],
      {
        cwd: dir,
        env: { ...process.env, ...env },
        encoding: "utf8",
        maxBuffer: 1 << 28,
      },
    );
    if (status !== 0) throw new Error(`${script}: ${stderr}`);
    const tests: readonly ListedTest[] = JSON.parse(stdout.slice(stdout.indexOf("[{")));
    return tests.map(({ project, file, title }) => ({ step: `${script} ${project}`.trim(), title, file }));
  });
}

/** A step and title that `of` has twice must be in `others` twice. */
function missing(of: readonly CollectedTest[], others: readonly CollectedTest[]): CollectedTest[] {
  const counts = Map.groupBy(others, keyOf);
  const left = new Map([...counts].map(([key, tests]) => [key, tests.length]));
  return of.filter((test) => {
    const count = left.get(keyOf(test)) ?? 0;
    left.set(keyOf(test), count - 1);
    return count <= 0;
  });
}

function keyOf({ step, title }: CollectedTest): string {
  return `${step}\n${title}`;
}

function print(before: readonly CollectedTest[], after: readonly CollectedTest[]): void {
  console.log("step                          tests before  after   files before  after");
  for (const step of new Set([...before, ...after].map((test) => test.step))) {
    const [old, now] = [before, after].map((tests) => tests.filter((test) => test.step === step)) as [
      CollectedTest[],
      CollectedTest[],
    ];
    const cells = [old.length, now.length, filesIn(old), filesIn(now)].map((count) => String(count).padStart(9));
    console.log(step.padEnd(30), ...cells);
  }
}

function filesIn(tests: readonly CollectedTest[]): number {
  return new Set(tests.map(({ file }) => file)).size;
}
