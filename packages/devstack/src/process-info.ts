import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { DevstackError } from "./errors.ts";

export interface ProcessInfo {
  readonly parentPid: number;
  /** Program and arguments, joined by spaces; only the program's name once the process is on its way out. */
  readonly command: string;
}

/** What runs under `pid`; undefined when nothing does, or only a zombie. */
export async function describeProcess(pid: number): Promise<ProcessInfo | undefined> {
  try {
    return process.platform === "linux" ? await fromProc(pid) : await fromPs(pid);
  } catch {
    return undefined;
  }
}

async function fromProc(pid: number): Promise<ProcessInfo | undefined> {
  const [commandLine, status] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, "utf8"),
    readFile(`/proc/${pid}/status`, "utf8"),
  ]);
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1];
  // A process on its way out loses its command line first, its main thread next, and its ports and locks only with its last thread.
  if (field("State") === "Z" && field("Threads") === "1") return undefined;
  const command = commandLine.split("\0").join(" ").trim() || (field("Name") ?? "");
  return { parentPid: Number(field("PPid")), command };
}

async function fromPs(pid: number): Promise<ProcessInfo | undefined> {
  const { stdout } = await promisify(execFile)("ps", ["-ww", "-o", "ppid=,stat=,args=", "-p", String(pid)]);
  const [, parentPid, state, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(stdout.trimEnd()) ?? [];
  if (command === undefined || state?.startsWith("Z")) return undefined;
  return { parentPid: Number(parentPid), command };
}

/** Stops a process that is not a child of this one: SIGTERM, SIGKILL after `deadlineMs`. Throws when it may not be signalled. */
export async function stopProcess(pid: number, deadlineMs: number): Promise<void> {
  const killAtMs = Date.now() + deadlineMs;
  let signal: NodeJS.Signals = "SIGTERM";
  send(pid, signal);
  while ((await describeProcess(pid)) !== undefined) {
    await delay(25);
    if (Date.now() < killAtMs || signal === "SIGKILL") continue;
    signal = "SIGKILL";
    send(pid, signal);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return;
    throw new DevstackError(`process ${pid} is in the way and cannot be stopped: ${String(error)}`);
  }
}
