import { type ChildProcess, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { MongoClient } from "mongodb";
import { describeProcess } from "@vidimus/devstack/process-info";
import { readDevJson } from "@vidimus/devstack/stack/dev-json";
import { runNpmScript } from "../support/npm-script.ts";
import { lockHolder } from "@vidimus/devstack/stack/stack-lock";
import { freePorts } from "@vidimus/devstack/testing/free-ports";

let stateDir: string;
let env: NodeJS.ProcessEnv;
const started: ChildProcess[] = [];

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "vidimus-npm-"));
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, ...inherited } = process.env;
  env = { ...inherited, LOG_LEVEL: "warn", ...(await freePorts()) };
});
afterEach(async () => {
  await npm("stop").ended;
  for (const child of started.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rm(stateDir, { recursive: true, force: true }));

function npm(script: "start" | "stop", settings: NodeJS.ProcessEnv = {}) {
  const running = runNpmScript(script, ["--state", stateDir], { ...env, ...settings });
  started.push(running.child);
  return running;
}

/** Waits until the stack runs. Returns its pid and those of its eight processes. */
async function running(start: ReturnType<typeof npm>) {
  await start.says("Vidimus runs");
  const pids = Object.values((await readDevJson(stateDir))?.pids ?? {});
  expect(pids).toHaveLength(8);
  const holder = await lockHolder(stateDir);
  return { pids, stackPid: holder!.pid };
}

const allGone = (pids: readonly number[]) =>
  vi.waitFor(
    async () => {
      const left = (await Promise.all(pids.map(describeProcess))).filter((each) => each !== undefined);
      expect(left).toEqual([]);
    },
    { timeout: 15_000, interval: 50 },
  );

const pdeathsigWorks = spawnSync("setpriv", ["--pdeathsig", "TERM", "--", "true"]).status === 0;

describe("npm start", { timeout: 120_000 }, () => {
  it("waits, and says so, while an earlier npm start stops its eight processes at SIGTERM", async () => {
    // Five services take a second each, so the second start begins before the first stack has
    // ended.
    const first = npm("start", { DRAIN_DELAY_MS: "1000" });
    const { pids, stackPid } = await running(first);
    first.child.kill("SIGTERM");
    await first.says("stopping");
    const second = npm("start");
    await second.says(`waiting for the dev stack of process ${stackPid} to stop`);
    await allGone([stackPid, ...pids]);
    await running(second);
  });

  it("stops completely at Ctrl-C, although npm forwards the signal a second time", async () => {
    const start = npm("start");
    const { pids, stackPid } = await running(start);
    // As from a terminal, the whole process group gets the signal: npm and the stack.
    process.kill(-start.child.pid!, "SIGINT");
    await allGone([stackPid, ...pids]);
    // `stack.json` is removed once all processes have ended; a killed stack leaves it.
    await expect(readFile(join(stateDir, "stack.json"))).rejects.toThrow("ENOENT");
  });

  it.skipIf(!pdeathsigWorks)("leaves none of its processes behind when the stack is killed with SIGKILL", async () => {
    const { pids, stackPid } = await running(npm("start"));
    process.kill(stackPid, "SIGKILL");
    await allGone([stackPid, ...pids]);
  });

  it("ends at SIGTERM while it is still starting", async () => {
    const start = npm("start");
    const holder = await vi.waitFor(
      async () => {
        const found = await lockHolder(stateDir);
        if (!found) throw new Error("the state folder is not locked yet");
        return found;
      },
      { timeout: 30_000, interval: 10 },
    );
    const killedMs = performance.now();
    start.child.kill("SIGTERM");
    const said = await start.ended;
    expect(said).not.toContain("Vidimus runs");
    await allGone([holder.pid]);
    expect(performance.now() - killedMs).toBeLessThan(15_000);
  });

  it("says within 8 s, without the password, that MONGODB_URL does not answer", async () => {
    const startedMs = performance.now();
    const said = await npm("start", { MONGODB_URL: "mongodb://ida:hunter2@127.0.0.1:2/?replicaSet=r" }).ended;
    expect(said).toMatch(/MONGODB_URL: no primary answered .*127\.0\.0\.1:2.*ECONNREFUSED/);
    expect(said).not.toContain("hunter2");
    expect(performance.now() - startedMs).toBeLessThan(8_000);
  });

  it("says which setting a service refuses", async () => {
    const said = await npm("start", { IP_RATE_LIMIT: "many" }).ended;
    expect(said).toMatch(/^gateway refuses to start: IP_RATE_LIMIT must be a rate/m);
  });

  it("answers data of an earlier build with one line, which says how to start over", async () => {
    const start = npm("start");
    await running(start);
    const { mongodb } = (await readDevJson(stateDir))!;
    const client = await new MongoClient(mongodb).connect();
    await client.db("vidimus_documents").collection("database_version").drop();
    await client.close();
    await npm("stop").ended;
    const said = await npm("start").ended;
    await rm(stateDir, { recursive: true });
    expect(said).toBe(
      "documents refuses to start: database vidimus_documents is of an earlier build, " +
        "and nothing was released yet: start over with `npm start -- --fresh`\n",
    );
  });
});

describe("npm stop", { timeout: 120_000 }, () => {
  it("returns when the stack and its eight processes are gone", async () => {
    const start = npm("start");
    const { pids, stackPid } = await running(start);
    expect(await npm("stop").ended).toBe(`stopping the dev stack of process ${stackPid}\nstopped\n`);
    const all = [stackPid, ...pids];
    expect(await Promise.all(all.map(describeProcess))).toEqual(all.map(() => undefined));
  });

  it("says that no dev stack runs, when none does", async () => {
    expect(await npm("stop").ended).toBe("no dev stack runs here\n");
  });
});
