import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

export interface ChildOptions {
  /** An absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Receives stdout and stderr, appended. Its folder is created. */
  readonly logFile: string;
  readonly cwd?: string;
  /** The whole environment of the child; this process's own when left out. */
  readonly env?: NodeJS.ProcessEnv;
}

/** `code` is null when a signal ended the process. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  /** SIGTERM, and SIGKILL when it still runs after `deadlineMs`. Resolves once it is gone; harmless when it already is. */
  stop(deadlineMs: number): Promise<ChildExit>;
  /** SIGKILL, without waiting. */
  kill(): void;
}

/**
 * Starts a process that does not outlive this one.
 *
 * - Own exit or `process.exit`: children are killed from the exit hook.
 * - SIGKILL, or a signal nobody handles: no hook runs. On Linux the kernel sends the children SIGTERM
 *   (`setpriv --pdeathsig`); elsewhere they stay, and the next start takes their data folder over (takeover.ts).
 *   To the kernel the parent is the thread that called this: in a worker thread the child ends with the worker.
 * - Ctrl-C: children stand in a session of their own and do not see it, so the parent decides the order of the stop.
 *
 * Rejects when the command cannot be executed.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  // Asked first, because under setpriv a missing command is a child that ends with 127 instead of an error.
  await access(options.command, constants.X_OK);
  await mkdir(dirname(options.logFile), { recursive: true });
  await using log = await open(options.logFile, "a");
  const [command, ...args] = withParentDeathSignal([options.command, ...options.args]);
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ["ignore", log.fd, log.fd],
    detached: true,
  });
  const exited = exitOf(child);
  killWithParent(child);
  await once(child, "spawn");
  if (child.pid === undefined) throw new Error(`${options.command} started without a pid`);
  return {
    pid: child.pid,
    exited,
    stop: (deadlineMs) => stop(child, exited, deadlineMs),
    kill: () => void child.kill("SIGKILL"),
  };
}

function exitOf(child: ChildProcess): Promise<ChildExit> {
  const { promise, resolve } = Promise.withResolvers<ChildExit>();
  child.once("exit", (code, signal) => resolve({ code, signal }));
  return promise;
}

async function stop(child: ChildProcess, exited: Promise<ChildExit>, deadlineMs: number): Promise<ChildExit> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
  try {
    return await exited;
  } finally {
    clearTimeout(timer);
  }
}

const living = new Set<ChildProcess>();
let exitHookSet = false;

function killWithParent(child: ChildProcess): void {
  if (!exitHookSet) process.once("exit", () => living.forEach((each) => each.kill("SIGKILL")));
  exitHookSet = true;
  living.add(child);
  child.once("exit", () => living.delete(child));
  child.once("error", () => living.delete(child));
}

let pdeathsigWorks: boolean | undefined;

/** setpriv executes the command in its own place, so pid and parent stay what they would be without it. */
function withParentDeathSignal(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  const prefix = ["setpriv", "--pdeathsig", "TERM", "--"] as const;
  // Asked, not assumed: busybox has a setpriv that does not know the option.
  pdeathsigWorks ??= process.platform === "linux" && spawnSync(prefix[0], [...prefix.slice(1), "true"]).status === 0;
  return pdeathsigWorks ? [...prefix, ...command] : command;
}
