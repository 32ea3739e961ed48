import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const read = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8");
const steps = Array.from(read("check.ts").matchAll(/^ {2}\[(".*")\],$/gm), ([, words]) =>
  (JSON.parse(`[${words}]`) as string[]).join(" "),
);
const programs = readdirSync(import.meta.dirname).filter((name) => /^(?!check\.)[\w-]+\.ts$/.test(name));

it("every scripts/check-*.ts is a step of scripts/check.ts, or is run by another npm script", () => {
  const scripts = Object.values<string>(JSON.parse(read("../package.json")).scripts).join(" && ");
  const own = new Set(Array.from(scripts.matchAll(/node scripts\/(check-[\w-]+\.ts)(?= &&|$)/g), ([, name]) => name));
  const meant = programs.filter((name) => name.startsWith("check-") && !own.has(name));
  expect(meant.map((name) => `node scripts/${name}`).filter((step) => !steps.includes(step))).toEqual([]);
  expect(meant).not.toHaveLength(0);
});

it("scripts/check.ts runs every program in scripts/ that takes --check, and passes --check to it", () => {
  const comparing = programs.filter((name) => read(name).includes('"--check"'));
  expect(comparing.map((name) => `node scripts/${name} --check`).filter((step) => !steps.includes(step))).toEqual([]);
  expect(comparing).not.toHaveLength(0);
});

it("scripts/check.ts checks types, lint, format and proto/", () => {
  const tools = ["oxlint --type-aware --type-check --max-warnings 0", "oxfmt --check ."];
  tools.push("buf lint", "buf format --exit-code --diff");
  expect(steps).toEqual(expect.arrayContaining(tools));
});
