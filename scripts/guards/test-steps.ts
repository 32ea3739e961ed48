import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One call of Vitest by an npm script. */
interface TestStep {
  /** Name of the npm script; `test:mtls` has two calls. */
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  /** Options and filters that follow `vitest run`. */
  readonly args: readonly string[];
  /** Parts of paths; Vitest runs the files whose paths contain one of them. */
  readonly filters: readonly string[];
}

/** Options of Vitest that take a value; only those that the scripts use. */
const withValue = new Set(["--project", "--config"]);

/** Scripts that run a part of what `npm test` runs. */
const parts = new Set(["test:unit", "test:integration", "test:e2e"]);

/** Returns the calls of Vitest in the npm scripts of a folder's package.json, without `parts`. */
export function testSteps(dir: string): TestStep[] {
  const { scripts } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  return Object.entries(scripts).flatMap(([script, line]) =>
    parts.has(script) ? [] : line.split("&&").flatMap((command) => stepOf(script, command.trim().split(/\s+/))),
  );
}

function stepOf(script: string, words: readonly string[]): TestStep[] {
  const vitest = words.indexOf("vitest");
  if (vitest < 0 || words[vitest + 1] !== "run") return [];
  const env = Object.fromEntries(words.slice(0, vitest).map((word) => word.split("=", 2) as [string, string]));
  const args = words.slice(vitest + 2);
  const filters = args.filter((word, index) => !word.startsWith("-") && !withValue.has(args[index - 1] ?? ""));
  return [{ script, env, args, filters }];
}
