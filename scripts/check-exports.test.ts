import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "exports-"));
  spawnSync("git", ["init", "--quiet"], { cwd: dir });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("an export that no other file names is refused, and one that a program or a document names is not", () => {
  const programs = {
    "letters.ts":
      "export const stamp = 1;\nexport async function send() {}\nexport interface Letter {}\nconst own = 1;\n",
    "main.ts": 'import { send } from "./letters.ts";\nexport default send;\n',
    "README.md": "A `Letter` is sent.\n",
  };
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(dir, name), text);
  const { stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "check-exports.ts")], {
    cwd: dir,
    encoding: "utf8",
  });
  expect(stderr).toBe("letters.ts: exports stamp, which no other file names\n");
});
