import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { patient } from "@vidimus/kit/testing/patient";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startChild } from "./child.ts";
import { describeProcess } from "./process-info.ts";

let dir: string;
beforeAll(async () => void (dir = await mkdtemp(join(tmpdir(), "child-test-"))));
afterAll(() => rm(dir, { recursive: true, force: true }));

function startNode(name: string, script: string) {
  const logFile = join(dir, "logs", `${name}.log`);
  const logged = (text: string) =>
    vi.waitFor(async () => expect(await readFile(logFile, "utf8")).toContain(text), patient);
  return { logged, child: startChild({ command: process.execPath, args: ["-e", script], logFile }) };
}

test("stdout and stderr of a child are appended to its log file", async () => {
  for (const word of ["first", "second"]) {
    const { child } = startNode("append", `console.log("${word} out"); console.error("${word} err")`);
    expect(await (await child).exited).toEqual({ code: 0, signal: null });
  }
  const log = await readFile(join(dir, "logs", "append.log"), "utf8");
  expect(log.trim().split("\n").toSorted()).toEqual(["first err", "first out", "second err", "second out"]);
});

test("stop lets a child that handles SIGTERM end by itself", async () => {
  const { child, logged } = startNode(
    "polite",
    `process.on("SIGTERM", () => process.exit(3)); setInterval(() => {}, 1e6); console.log("up")`,
  );
  await logged("up");
  expect(await (await child).stop(5_000)).toEqual({ code: 3, signal: null });
});

test("stop kills a child that ignores SIGTERM beyond the deadline", async () => {
  const { child, logged } = startNode(
    "deaf",
    `process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6); console.log("up")`,
  );
  await logged("up");
  expect(await (await child).stop(50)).toEqual({ code: null, signal: "SIGKILL" });
});

test("stop of a child that has ended returns how it ended", async () => {
  const { child } = startNode("gone", `process.exit(7)`);
  await (
    await child
  ).exited;
  expect(await (await child).stop(5_000)).toEqual({ code: 7, signal: null });
});

test("starting a command that does not exist rejects", async () => {
  const start = startChild({ command: join(dir, "no-such-program"), args: [], logFile: join(dir, "none.log") });
  await expect(start).rejects.toThrow("ENOENT");
});

const pdeathsigWorks = spawnSync("setpriv", ["--pdeathsig", "TERM", "--", "true"]).status === 0;

/** Starts a parent that starts a child and then ends in the given way; returns the child's pid. */
async function orphan(end: string, env: NodeJS.ProcessEnv): Promise<number> {
  const args = ["-e", "setInterval(() => {}, 1e6)"];
  const options = { command: process.execPath, args, logFile: join(dir, "orphan.log") };
  const script = `
    const { startChild } = await import(${JSON.stringify(import.meta.resolve("./child.ts"))});
    const child = await startChild(${JSON.stringify(options)});
    process.stdout.write(String(child.pid), () => { ${end} });`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "ignore"],
    env,
  });
  const closed = once(parent, "close");
  const pid = Number((await parent.stdout.toArray()).join(""));
  await closed;
  expect(pid).toBeGreaterThan(0);
  return pid;
}

const isGone = (pid: number) => vi.waitFor(async () => expect(await describeProcess(pid)).toBeUndefined(), patient);

test.for(["process.exit(1)", `setTimeout(() => { throw new Error("crash") })`])(
  "a child does not outlive a parent that ends by %s",
  // Without a PATH there is no setpriv, which would end the child by itself.
  async (end) => isGone(await orphan(end, { PATH: "" })),
);

// After SIGKILL no code of the parent runs, and only Linux signals its children.
test.skipIf(!pdeathsigWorks)("a child does not outlive a parent that is killed with SIGKILL", async () =>
  isGone(await orphan(`process.kill(process.pid, "SIGKILL")`, process.env)),
);
