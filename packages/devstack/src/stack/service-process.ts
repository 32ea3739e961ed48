import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startChild } from "../child.ts";
import { DevstackError } from "../errors.ts";
import { compileCacheDir, projectDir } from "../paths.ts";
import { allocatorSettingsOf } from "./allocator-settings.ts";
import type { ProgramName } from "./program-names.ts";
import type { Supervised } from "./supervisor.ts";

const stopDeadlineMs = 15_000;
const readyDeadlineMs = 30_000;

/**
 * Limits for the generations of V8's heap, in MiB. V8 frees what was streamed or imported only when
 * a generation is full, and lets the old generation grow in proportion to the largest heap that it
 * may have, by default gigabytes. operations.md, "Memory", has the measurements.
 */
const nodeFlags: Partial<Record<ProgramName, readonly string[]>> = {
  console: ["--max-semi-space-size=2"],
  gateway: ["--max-semi-space-size=8"],
  phrases: ["--max-semi-space-size=8", "--max-old-space-size=1024"],
};

export function mainFile(name: ProgramName): string {
  return join(projectDir, name === "console" ? "packages" : "services", name, "src", "main.ts");
}

/** Starts a service or the console as a process, with the Node that runs this one. */
export async function startServiceProcess(
  name: ProgramName,
  env: NodeJS.ProcessEnv,
  logFile: string,
): Promise<Supervised> {
  const args = [...(nodeFlags[name] ?? []), mainFile(name)];
  const child = await startChild({
    command: process.execPath,
    args,
    logFile,
    cwd: projectDir,
    env: { ...allocatorSettingsOf(name), NODE_COMPILE_CACHE: compileCacheDir, ...env },
  });
  return {
    pid: child.pid,
    exited: child.exited,
    [Symbol.asyncDispose]: async () => void (await child.stop(stopDeadlineMs)),
  };
}

/** Waits until `/readyz` answers 200. Throws DevstackError with the end of the log after 30 s. */
export async function untilServiceReady(name: string, opsUrl: string, logFile: string): Promise<void> {
  const deadline = AbortSignal.timeout(readyDeadlineMs);
  while (!deadline.aborted) {
    const ready = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    await pause(50);
  }
  const lastLines = await endOfLog(logFile);
  throw new DevstackError(`${name} is not ready after ${readyDeadlineMs} ms; the end of ${logFile}:\n${lastLines}`);
}

/** Returns the last ten lines of a log; "" when there is none. */
export async function endOfLog(logFile: string): Promise<string> {
  const log = await readFile(logFile, "utf8").catch(() => "");
  return log.trimEnd().split("\n").slice(-10).join("\n");
}
