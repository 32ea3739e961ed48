import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const script = join(import.meta.dirname, "complete-lockfile.ts");
const unverified: string[] = JSON.parse(readFileSync(join(import.meta.dirname, "unverified-packages.json"), "utf8"));

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), "lockfile-"))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Packages = Record<string, Record<string, unknown>>;

function run(packages: Packages, ...args: string[]) {
  const path = join(dir, "package-lock.json");
  writeFileSync(path, JSON.stringify({ packages }));
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: dir, encoding: "utf8" });
  const after = JSON.parse(readFileSync(path, "utf8")) as { packages: Packages };
  return { status, stderr, packages: after.packages };
}

const entry = (name: string, integrity?: string) => ({
  [`node_modules/${name}`]: { version: "1.0.0", ...(integrity && { integrity }) },
});
const known: Packages = Object.assign({ "": {} }, ...unverified.map((name) => entry(name)));

describe("the check of the lockfile", () => {
  it("passes when all but workspaces and packages of unverified-packages.json have an integrity", () => {
    const workspace = { "node_modules/@vidimus/kit": { link: true }, "packages/kit": { version: "0.1.0" } };
    expect(run({ ...known, ...workspace, ...entry("a", "sha512-x") }, "--check")).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  it("fails for packages without integrity that unverified-packages.json lacks, also for a nested one", () => {
    const nested = { "node_modules/a/node_modules/@b/c": { version: "1.0.0" } };
    const { status, stderr } = run({ ...known, ...entry("a"), ...nested }, "--check");
    expect([status, stderr]).toEqual([1, expect.stringMatching(/does not list: a, @b\/c\n$/)]);
  });

  it("fails for a package that has an integrity and is in unverified-packages.json", () => {
    const [first = ""] = unverified;
    const { status, stderr } = run({ ...known, ...entry(first, "sha512-x") }, "--check");
    expect([status, stderr]).toEqual([1, expect.stringContaining(`remove them: ${first}`)]);
  });
});

it("--forget removes from the lockfile only packages without integrity and those that depend on them", () => {
  const parent = { version: "1.0.0", integrity: "sha512-p", optionalDependencies: { "tool-darwin-arm64": "1.0.0" } };
  const kept = { "": { optionalDependencies: { "tool-darwin-arm64": "1.0.0" } }, ...entry("b", "sha512-b") };
  const packages = { ...kept, "node_modules/tool": parent, ...entry("tool-darwin-arm64") };
  expect(run(packages, "--forget").packages).toEqual(kept);
});
