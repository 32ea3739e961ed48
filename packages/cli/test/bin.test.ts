import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { nouns } from "../src/nouns.ts";

const main = resolve(import.meta.dirname, "../src/main.ts");

const counter = resolve(import.meta.dirname, "support/count-modules.ts");

interface Spawned {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

const spawnCli = (...argv: string[]) => spawnIn("/", argv);

function spawnIn(cwd: string, argv: readonly string[]): Promise<Spawned> {
  return new Promise((done) => {
    const env = { PATH: process.env["PATH"], XDG_CONFIG_HOME: "/nonexistent", XDG_CACHE_HOME: "/nonexistent" };
    execFile(process.execPath, ["--import", counter, main, ...argv], { cwd, env }, (error, stdout, stderr) => {
      done({ code: error?.code ?? 0, stdout, stderr });
    });
  });
}

test("--help lists every noun", async () => {
  const { code, stdout } = await spawnCli("--help");
  expect(code).toBe(0);
  const listed = new Set([...stdout.matchAll(/^ {2}([a-z-]+)/gm)].map(([, word]) => word));
  expect(nouns.filter(({ name }) => !listed.has(name))).toEqual([]);
});

test("a failure reaches the shell as exit code 1 and a message on standard error", async () => {
  const { code, stdout, stderr } = await spawnCli("tenants", "list");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^error: no dev stack found: run `npm start`/);
});

/** The modules that a command line loads: how many, and of which packages. */
function modulesOf({ stderr }: Spawned): { count: number; packages: string[] } {
  const urls = stderr.split("\n").flatMap((line) => (line.startsWith("module ") ? [line.slice(7)] : []));
  const names = urls.map((url) => /.*\/(?:node_modules\/((?:@[^/]+\/)?[^/]+)|packages\/([^/]+))\//.exec(url));
  return { count: urls.length, packages: [...new Set(names.map((name) => name?.[1] ?? name?.[2] ?? ""))].toSorted() };
}

test("--help loads no command", async () => {
  const ended = await spawnCli("--help");
  expect(ended.stderr).not.toContain("/src/commands/");
  const help = modulesOf(ended);
  expect(help.packages).toEqual(["cli", "commander"]);
  expect(help.count).toBeLessThan(20);
});

test("phrases delete, a command of the public HTTP API, loads no RPC client", async () => {
  const http = modulesOf(
    await spawnCli("phrases", "delete", "x", "--gateway", "http://127.0.0.1:2", "--key", "vk_x", "--max-wait", "0"),
  );
  expect(http.packages).toEqual(["cli", "commander", "kit"]);
  expect(http.count).toBeLessThan(40);
});

test("doctor loads no RPC client to report a stopped dev stack as broken", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "vidimus-doctor-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await mkdir(join(cwd, ".vidimus"));
  const dev = {
    gateway: "http://127.0.0.1:2",
    grpc: { documents: "127.0.0.1:2" },
    tenants: [],
    nats: "nats://127.0.0.1:2",
  };
  await writeFile(join(cwd, ".vidimus", "dev.json"), JSON.stringify(dev), { mode: 0o600 });
  const doctor = await spawnIn(cwd, ["doctor"]);
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(/^STATUS.*\nbroken +dev stack/)]);
  expect(modulesOf(doctor).packages).not.toContain("@connectrpc/connect");
  expect(modulesOf(doctor).count).toBeLessThan(50);
});

test("--version prints the version of the package", async () => {
  const { version } = JSON.parse(await readFile(resolve(import.meta.dirname, "../package.json"), "utf8")) as {
    version: string;
  };
  expect(await spawnCli("--version")).toMatchObject({ code: 0, stdout: `${version}\n` });
});

test("on an old Node the program ends with a message that names the version it needs", async () => {
  const bin = resolve(import.meta.dirname, "../bin/vidimus.js");
  const old = 'Object.defineProperty(process, "versions", { value: { node: "20.19.5" } })';
  const started = (preload: string) =>
    new Promise((done) => {
      execFile(
        process.execPath,
        ["--import", `data:text/javascript,${preload}`, bin, "--version"],
        (error, stdout, stderr) => done([error?.code ?? 0, stdout, stderr.split("(")[0]]),
      );
    });
  expect(await started(encodeURIComponent(old))).toEqual([
    1,
    "",
    "error: vidimus needs Node 26 or newer, and this is 20.19.5 ",
  ]);
  expect(await started("0")).toEqual([0, "0.1.0\n", ""]);
});
