import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { patient } from "@vidimus/kit/testing/patient";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { describeProcess } from "../process-info.ts";
import { pickFreePort } from "../port-guard.ts";
import { openDevStack } from "./dev-stack.ts";
import { acquireLock, lockHolder } from "./stack-lock.ts";
import { portSettings } from "./service-plan.ts";

let stateDir: string;
beforeEach(async () => void (stateDir = await mkdtemp(join(tmpdir(), "vidimus-lock-"))));
afterEach(() => rm(stateDir, { recursive: true, force: true }));
afterEach(() => void vi.restoreAllMocks());

const silent = () => {};
const acquire = () => acquireLock(stateDir, silent);
const refusalOf = (pid: number) => `a dev stack already runs here (process ${pid}); npm stop ends it`;
const waitingFor = (pid: number) => `waiting for the dev stack of process ${pid} to stop`;

/** Starts a process that acquires the lock when it is told to, and keeps it until it is killed. */
async function startRival() {
  const script = `
    const { acquireLock } = await import(${JSON.stringify(import.meta.resolve("./stack-lock.ts"))});
    process.stdin.once("data", async () => {
      try {
        globalThis.lock = await acquireLock(${JSON.stringify(stateDir)}, () => {});
        console.log("held");
      } catch (error) {
        console.log(error.message);
      }
    });
    console.log("ready");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const nextLine = async () => String((await lines.next()).value);
  expect(await nextLine()).toBe("ready");
  return {
    pid: child.pid!,
    acquire: () => {
      child.stdin.write("go\n");
      return nextLine();
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** Leaves the lock of a process that was killed while it held it. */
async function leaveStaleLock(): Promise<void> {
  await using killed = await startRival();
  expect(await killed.acquire()).toBe("held");
}

/** Starts six processes that acquire the lock at the same moment, and expects that one has it. */
async function expectOneOfSixHolds(): Promise<void> {
  await using rivals = new AsyncDisposableStack();
  const started = await Promise.all(Array.from({ length: 6 }, async () => rivals.use(await startRival())));
  const answers = await Promise.all(started.map((rival) => rival.acquire()));
  const { pid } = started[answers.indexOf("held")]!;
  expect(answers.toSorted()).toEqual([...Array.from({ length: 5 }, () => refusalOf(pid)), "held"]);
  expect((await lockHolder(stateDir))?.pid).toBe(pid);
}

describe("the lock of a killed process", () => {
  test("is taken over by only one of six starts that find it at the same moment", { timeout: 60_000 }, async () => {
    await leaveStaleLock();
    await expectOneOfSixHolds();
  });

  test("has no holder", async () => {
    await leaveStaleLock();
    expect(await lockHolder(stateDir)).toBeUndefined();
  });
});

describe("a stack.json", () => {
  test.for([
    { name: "is empty", content: () => "" },
    { name: "is half written", content: () => `{"pid":${process.pid},"star` },
    { name: "names no process", content: () => "{}" },
    { name: "is null", content: () => "null" },
    { name: "has the pid of a later process", content: () => JSON.stringify({ pid: process.pid, startedAt: "1" }) },
  ])("that $name has no holder, so that a start gets the lock", async ({ content }) => {
    await writeFile(join(stateDir, "stack.json"), content());
    expect(await lockHolder(stateDir)).toBeUndefined();
    await using _lock = await acquire();
    const startedAt = (await describeProcess(process.pid))?.startedAt;
    expect(await lockHolder(stateDir)).toEqual({ pid: process.pid, startedAt, isStopping: false });
  });
});

describe("a living process that stack.json names and that has not locked stack.lock", () => {
  const holderFile = () => join(stateDir, "stack.json");

  test("keeps the folder, as after stack.lock was deleted under a running stack", async () => {
    await using rival = await startRival();
    expect(await rival.acquire()).toBe("held");
    const holder = await readFile(holderFile(), "utf8");
    await rm(join(stateDir, "stack.lock"));
    await expect(acquire()).rejects.toThrow(refusalOf(rival.pid));
    expect(await readFile(holderFile(), "utf8")).toBe(holder);
  });

  test("is waited for when it is stopping", async () => {
    const lines: string[] = [];
    let second: ReturnType<typeof acquireLock>;
    {
      await using rival = await startRival();
      const startedAt = (await describeProcess(rival.pid))?.startedAt;
      await writeFile(holderFile(), JSON.stringify({ pid: rival.pid, startedAt, isStopping: true }));
      second = acquireLock(stateDir, (line) => lines.push(line));
      await vi.waitFor(() => expect(lines).toEqual([waitingFor(rival.pid)]), patient);
    }
    await using _lock = await second;
    expect(lines).toHaveLength(1);
    expect(await lockHolder(stateDir)).toMatchObject({ pid: process.pid });
  });
});

test("a start on a folder that an unseen process has locked fails after a minute", async () => {
  using holder = new DatabaseSync(join(stateDir, "stack.lock"));
  holder.exec("BEGIN IMMEDIATE");
  let skippedMs = 0;
  const nowMs = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => nowMs() + skippedMs);
  const lines: string[] = [];
  const start = acquireLock(stateDir, (line) => lines.push(line));
  const onFault = vi.fn();
  start.catch(onFault);
  const words = "the folder is locked by a process that cannot be seen, in another container for example";
  skippedMs = 3000;
  await vi.waitFor(() => expect(lines).toEqual([words]), patient);
  expect(onFault).not.toHaveBeenCalled();
  skippedMs = 60_000;
  await expect(start).rejects.toThrow(`${words}, and does not stop`);
  expect(lines).toEqual([words]);
});

test("only one of six starts that find an empty folder at the same moment gets its lock", { timeout: 60_000 }, () =>
  expectOneOfSixHolds(),
);

test("a second start is refused", async () => {
  await using _lock = await acquire();
  await expect(acquire()).rejects.toThrow(refusalOf(process.pid));
});

test("a lock whose stack.json cannot be removed is released all the same", async () => {
  const lock = await acquire();
  const holderFile = join(stateDir, "stack.json");
  await rm(holderFile);
  await mkdir(holderFile);
  await expect(lock[Symbol.asyncDispose]()).rejects.toThrow("stack.json");
  await rm(holderFile, { recursive: true });
  await using _lock = await acquire();
});

test("a start that waits for a stopping stack fails with the reason of the signal that aborts it", async () => {
  await using lock = await acquire();
  await lock.markStopping();
  const stop = new AbortController();
  const report = () => stop.abort(new Error("stopped by the test"));
  const start = openDevStack({ stateDir, env: {}, report, signal: stop.signal });
  await expect(start).rejects.toThrow("stopped by the test");
});

test("a released lock is free: it has no holder and can be acquired", async () => {
  await (await acquire())[Symbol.asyncDispose]();
  expect(await lockHolder(stateDir)).toBeUndefined();
  await using _lock = await acquire();
});

test("a start waits for a stack that is stopping, then has its lock", async () => {
  const lines: string[] = [];
  const first = await acquire();
  await first.markStopping();
  const second = acquireLock(stateDir, (line) => lines.push(line));
  await vi.waitFor(() => expect(lines).not.toEqual([]), patient);
  await first[Symbol.asyncDispose]();
  await using _lock = await second;
  expect(lines).toEqual([waitingFor(process.pid)]);
  expect(await lockHolder(stateDir)).toMatchObject({ isStopping: false });
});

test("a start that still waits for its ports has locked the folder", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const ports = await Promise.all(portSettings.map(async ({ variable }) => [variable, String(await pickFreePort())]));
  const env = { ...Object.fromEntries(ports), [portSettings[0]!.variable]: String(port) };
  const stop = new AbortController();
  let rival: Promise<unknown> | undefined;
  const report = () => {
    rival ??= acquire().finally(() => stop.abort(new Error("stopped by the test")));
    rival.catch(silent);
  };
  await expect(openDevStack({ stateDir, env, report, signal: stop.signal })).rejects.toThrow("stopped by the test");
  taken.close();
  await expect(rival).rejects.toThrow("a dev stack already runs here");
});
