import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const main = resolve(import.meta.dirname, "../src/main.ts");

function spawnCli(...argv: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const env = { PATH: process.env["PATH"], XDG_CONFIG_HOME: "/nonexistent" };
    execFile(process.execPath, [main, ...argv], { cwd: "/", env }, (error, stdout, stderr) => {
      done({ code: error?.code ?? 0, stdout, stderr });
    });
  });
}

test("the program starts, helps, and lists every noun", async () => {
  const { code, stdout } = await spawnCli("--help");
  expect(code).toBe(0);
  for (const noun of ["tenants", "keys", "documents", "endpoints"]) expect(stdout).toContain(noun);
});

test("a failure reaches the shell as exit code 1 and a message on standard error", async () => {
  const { code, stdout, stderr } = await spawnCli("tenants", "list");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^error: no dev stack found: run `npm start`/);
});
