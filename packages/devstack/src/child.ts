import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

interface ChildOptions {
  /** Absolute path of the program. */
  readonly command: string;
  readonly args: readonly string[];
  /** stdout and stderr are appended to it. Its folder is created. */
  readonly logFile: string;
  readonly cwd?: string;
  /** The whole environment of the child; by default that of this process. */
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
  /** Sends SIGTERM, and SIGKILL after `deadlineMs`. Resolves when the child has ended. */
  stop(deadlineMs: number): Promise<ChildExit>;
  /** Sends SIGKILL without waiting. */
  kill(): void;
}

/**
 * Starts a process that should not outlive this one.
 *
 * - After `process.exit` or an uncaught error, an exit hook kills the children.
 * - After SIGKILL or an unhandled signal no hook runs. On Linux with util-linux the kernel then
 *   sends the children SIGTERM (`setpriv --pdeathsig`). Elsewhere they keep running until the next
 *   start or `npm stop` ends them (leftovers.ts, data-dir.ts). For the kernel the parent is the
 *   calling thread: the child of a worker thread ends with the worker.
 * - Ctrl-C does not reach the children, because they have a session of their own. So the parent
 *   controls the order of the stop.
 *
 * Rejects when the command cannot be executed.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  // Checked first, because setpriv turns a missing command into a child that exits with code 127.
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

/** setpriv replaces itself by the command, so pid and parent are the same as without it. */
function withParentDeathSignal(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  const prefix = ["setpriv", "--pdeathsig", "TERM", "--"] as const;
  // Tried first, because the setpriv of busybox lacks the option.
  pdeathsigWorks ??= process.platform === "linux" && spawnSync(prefix[0], [...prefix.slice(1), "true"]).status === 0;
  return pdeathsigWorks ? [...prefix, ...command] : command;
}
