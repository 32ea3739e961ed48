import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nouns, soloCommands } from "../src/nouns.ts";
import { run } from "./support/run.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "completion-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** What bash offers in place of the last word of `vidimus WORD…`. */
async function offered(...words: string[]): Promise<string[]> {
  const { stdout: script } = await run(["completion", "bash"]);
  const line = ["vidimus", ...words].map((word) => `'${word}'`).join(" ");
  const asked = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _vidimus; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)("bash", ["-c", asked]);
  return stdout.split("\n").filter((word) => word !== "");
}

test("bash completes nouns, commands and flags, also after flags and ids", async () => {
  expect(await offered("do")).toEqual(["documents", "doctor"]);
  expect(await offered("documents", "k")).toEqual(["kill"]);
  expect(await offered("--json", "endpoints", "ro")).toEqual(["rotate"]);
  expect(await offered("keys", "create", "--sc")).toEqual(["--scopes"]);
  expect(await offered("documents", "update", "some-id", "--ver")).toEqual(["--version"]);
  expect(await offered("doctor", "--mo")).toEqual(["--mongodb"]);
});

const shells = ["bash", "zsh", "fish"];

test.each(shells)("the script for %s contains the name of every noun and of every command", async (shell) => {
  const { code, stdout } = await run(["completion", shell]);
  expect(code).toBe(0);
  const words = new Set(stdout.split(/[\s"]+/));
  const all = nouns.flatMap(({ name, commands }) => [name].concat(Object.keys(commands)));
  all.push(...soloCommands.map(({ name }) => name));
  expect(all.filter((word) => !words.has(word))).toEqual([]);
});

test.for(shells)("the script for %s has no syntax error", async (shell, { skip }) => {
  const script = join(dir, shell);
  await writeFile(script, (await run(["completion", shell])).stdout);
  // `-n` parses the script and runs nothing of it.
  const { error, status, stderr } = spawnSync(shell, ["-n", script], { encoding: "utf8" });
  if (error && "code" in error && error.code === "ENOENT") skip(`${shell} is not installed`);
  expect({ error, status, stderr }).toEqual({ error: undefined, status: 0, stderr: "" });
});

test("an unknown shell is refused with the names of the known ones", async () => {
  expect(await run(["completion", "tcsh"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("bash, zsh, fish"),
  });
});
