import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

it("the workflow of a forge runs .ci/run, uses no action, and names no URL or registry", () => {
  const recipe = read(".github/workflows/check.yaml");
  expect(recipe).toMatch(/^ +run: \.ci\/run$/m);
  expect(recipe).not.toMatch(/^\s*-?\s*uses:/m);
  expect(recipe).not.toMatch(/registry|https?:\/\//);
});

it("every path that CODEOWNERS.template gives owners exists", () => {
  const paths = Array.from(read(".github/CODEOWNERS.template").matchAll(/^\/(\S+)/gm), ([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
});
