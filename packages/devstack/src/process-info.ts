import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { DevstackError } from "./errors.ts";

interface ProcessInfo {
  readonly parentPid: number;
  /** Start time in the system's format. Pids are reused; pid and start time identify a process. */
  readonly startedAt: string;
  /** Program and arguments, joined by spaces. Of an ending process only the program's name. */
  readonly command: string;
}

/** Undefined when no process has the pid, or all of its threads have ended (a zombie). */
export async function describeProcess(pid: number): Promise<ProcessInfo | undefined> {
  try {
    return process.platform === "linux" ? await fromProc(pid) : await fromPs(pid);
  } catch {
    return undefined;
  }
}

async function fromProc(pid: number): Promise<ProcessInfo | undefined> {
  const [commandLine, status, stat] = await Promise.all(
    ["cmdline", "status", "stat"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8")),
  );
  if (commandLine === undefined || status === undefined || stat === undefined) return undefined;
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1];
  // The state is that of the main thread. A process keeps its ports and locks until its last thread
  // has ended.
  if (field("State") === "Z" && field("Threads") === "1") return undefined;
  const command = commandLine.split("\0").join(" ").trim() || (field("Name") ?? "");
  // Field 22 of proc(5), in clock ticks since the boot; field 2, the name in brackets, may hold
  // blanks.
  const startedAt = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  return { parentPid: Number(field("PPid")), startedAt, command };
}

async function fromPs(pid: number): Promise<ProcessInfo | undefined> {
  const argv = ["-ww", "-o", "ppid=,stat=,lstart=,args=", "-p", String(pid)];
  const { stdout } = await promisify(execFile)("ps", argv, { env: { ...process.env, LC_ALL: "C" } });
  // `lstart` has five words: Sat Nov 21 23:55:32 2026.
  const [, parentPid, state, startedAt, command] =
    /^\s*(\d+)\s+(\S+)\s+((?:\S+\s+){4}\d{4})\s+(.*)$/.exec(stdout.trimEnd()) ?? [];
  if (startedAt === undefined || command === undefined || state?.startsWith("Z")) return undefined;
  return { parentPid: Number(parentPid), startedAt, command };
}

/**
 * Stops a process that is not a child of this one: SIGTERM, and SIGKILL after `deadlineMs`.
 * Resolves when it has ended.
 *
 * @throws DevstackError when this user may not signal it
 */
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
    throw new DevstackError(`process ${pid} cannot be stopped: ${String(error)}`);
  }
}
