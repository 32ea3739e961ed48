/**
 * Prints, as JSON, the tests in the files that a call of Vitest would select in the current folder,
 * by reading files without running them: skipped tests, too, and an `each` as one test. Its
 * arguments are those of `vitest run`. A file whose tests are made by a function of another file
 * counts as one test without a title.
 */
import { relative } from "node:path";
import { createVitest, parseCLI } from "vitest/node";

export interface ListedTest {
  readonly project: string;
  readonly file: string;
  readonly title: string;
}

const { filter, options } = parseCLI(["vitest", "run", ...process.argv.slice(2)]);
const vitest = await createVitest("test", { ...options, watch: false, root: process.cwd() });
const specifications = await vitest.globTestSpecifications(filter);
const modules = await vitest.experimental_parseSpecifications([...specifications]);
const tests = modules.flatMap((module): ListedTest[] => {
  const project = module.project.name;
  const file = relative(process.cwd(), module.moduleId);
  const titles = [...module.children.allTests()].map((test) => test.fullName);
  return (titles.length > 0 ? titles : [""]).map((title) => ({ project, file, title }));
});
await vitest.close();
process.stdout.write(JSON.stringify(tests));
