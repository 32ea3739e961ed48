import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

const workflow = read(".github/workflows/check.yaml");

it("the workflow of a forge runs .ci/run", () => {
  expect(workflow).toMatch(/^ +run: \.ci\/run$/m);
});

it("the workflow of a forge uses no action", () => {
  expect(workflow).not.toMatch(/^\s*-?\s*uses:/m);
});

it("the workflow of a forge names no URL or registry", () => {
  expect(workflow).not.toMatch(/registry|https?:\/\//);
});

it("every path that CODEOWNERS.template gives owners exists", () => {
  const paths = Array.from(read(".github/CODEOWNERS.template").matchAll(/^\/(\S+)/gm), ([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => globSync(path, { cwd: root }).length === 0)).toEqual([]);
});
