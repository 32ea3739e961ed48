/**
 * Fails for a file of `packages/<name>/src` or `services/<name>/src`, outside of testing/, that
 * decides something and has no test: neither one beside it (`post-webhook.test.ts`,
 * `advance-lane.property.test.ts`) nor a row that says where its test is. Such rows stand in the
 * section "Tests" of a README.md in its folder or above, within the package: the first column names
 * files and folders below that README.md, the second one the tests, from the package's folder or
 * the repository's. Fails also for a row that names what does not exist. Only reads files: those of
 * the folder that its argument names, else of this repository.
 *
 * Fails for a hook of Vitest at the top level of a module that tests import, too: a worker runs
 * such a module once, so the hook would belong to the first test file that imports it, and to no
 * other.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * A file with fewer branches needs no test of its own: it decides little, and tests of its callers
 * run it.
 */
const branchesMin = 5;

interface Row {
  readonly readme: string;
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

const root = process.argv[2] ?? join(import.meta.dirname, "..");
const sources = globSync("{packages,services}/*/src/**/*.ts", { cwd: root });
const tests = sources.filter((file) => file.endsWith(".test.ts"));
const tested = new Set(tests.map((file) => file.replace(/(?:\.[\w-]+)?\.test\.ts$/, ".ts")));
const rows = globSync("{packages,services}/*/{README.md,src/**/README.md}", { cwd: root }).flatMap(readRows);

const imported = globSync("{packages,services,tests}/**/*.ts", { cwd: root, exclude: ["**/node_modules"] }).filter(
  (file) => !file.endsWith(".test.ts"),
);

const faults = [
  ...sources.filter((file) => !isTested(file)).flatMap(faultOf),
  ...rows.flatMap(missingOf),
  ...imported.flatMap(hooksOf),
];
for (const fault of faults.toSorted()) console.error(fault);
if (faults.length > 0) process.exitCode = 1;

function isTested(file: string): boolean {
  const isForTests = /\.test\.ts$|\/testing\//.test(file);
  return isForTests || tested.has(file) || rows.some((row) => row.files.some((named) => covers(named, file)));
}

function covers(named: string, file: string): boolean {
  return named === file || (named.endsWith("/") && file.startsWith(named));
}

function faultOf(file: string): string[] {
  const branches = countBranches(readFileSync(join(root, file), "utf8"));
  return branches < branchesMin
    ? []
    : [`${file}: has ${branches} branches, no test beside it, and no row of "Tests" in a README.md above it`];
}

function hooksOf(file: string): string[] {
  const hooks = readFileSync(join(root, file), "utf8").matchAll(/^(?:before|after)(?:Each|All)(?=\()/gm);
  return [...hooks].map(([hook]) => `${file}: ${hook} at the top level holds for one test file only`);
}

/** Counts ifs, loops, cases, catches, ternaries and logical operators. */
function countBranches(program: string): number {
  const code = program.replaceAll(/\/\*[^]*?\*\/|(?<![:"'`\w])\/\/.*|(["'])(?:\\.|(?!\1).)*\1/g, " ");
  return code.match(/\b(?:if|for|while|(?<!\.)catch)\b(?= ?[({]| await)|\bcase\b|&&|\|\||\?\?|\s\?\s/g)?.length ?? 0;
}

function readRows(readme: string): Row[] {
  const [, section = ""] = readFileSync(join(root, readme), "utf8").split(/^## Tests$/m);
  const [own = ""] = section.split(/^## /m);
  return [...own.matchAll(/^\|([^|]*)\|([^|]*)\|$/gm)].flatMap(([, first = "", second = ""]) => {
    const files = codeOf(first).map((name) => `${dirname(readme)}/${name}`);
    return files.length === 0 ? [] : [{ readme, files, tests: codeOf(second) }];
  });
}

function codeOf(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

function missingOf({ readme, files, tests: named }: Row): string[] {
  const owner = readme.split("/").slice(0, 2).join("/");
  const isTest = (test: string) => test.endsWith(".test.ts");
  const exists = (test: string) => [owner, "."].some((folder) => existsSync(join(root, folder, test)));
  return [
    ...files.filter((file) => !existsSync(join(root, file))),
    ...named.filter((test) => !isTest(test) || !exists(test)),
    ...(named.length === 0 ? [`a test of ${files.join(", ")}`] : []),
  ].map((what) => `${readme}: ${what} does not exist`);
}
