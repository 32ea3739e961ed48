import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openTestFolder } from "./test-folder.ts";

const source = fileURLToPath(new URL("test-folder.ts", import.meta.url));

/** Path of a folder that another process made before it ended by `statement`. */
function madeAndLeft(statement: string): string {
  const script = `
    const { openTestFolder } = await import(${JSON.stringify(source)});
    process.stdout.write(openTestFolder("other").path, () => { ${statement} });`;
  return spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" }).stdout;
}

test("disposing of a folder removes it with its contents", () => {
  const folder = openTestFolder("own");
  mkdirSync(join(folder.path, "mongod"));
  writeFileSync(join(folder.path, "mongod", "journal"), "rows");
  folder[Symbol.dispose]();
  expect(existsSync(folder.path)).toBe(false);
});

test("a folder is removed when its process exits without disposing of it", () => {
  const path = madeAndLeft("process.exit(1)");
  expect(basename(path)).toMatch(/^vidimus-test-\d+-other-/);
  expect(existsSync(path)).toBe(false);
});

test("making a folder removes the folder of a killed process, but not an earlier one of the same process", () => {
  using running = openTestFolder("running");
  const left = madeAndLeft('process.kill(process.pid, "SIGKILL")');
  expect(existsSync(left)).toBe(true);
  using next = openTestFolder("next");
  expect(dirname(next.path)).toBe(dirname(left));
  expect(existsSync(left)).toBe(false);
  expect(existsSync(running.path)).toBe(true);
});
