import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startChild } from "../child.ts";
import { DevstackError } from "../errors.ts";
import { projectDir } from "../paths.ts";
import type { ServiceName } from "./service-plan.ts";
import type { Supervised } from "./supervisor.ts";

const stopDeadlineMs = 15_000;
const readyDeadlineMs = 30_000;

/**
 * An export passes through the gateway as fast as its reader takes it. What its pieces leave behind is collected when the
 * young generation is full, so that is what the process grows by: up to 70 MiB at Node's own 16, 55 MiB at 8.
 */
const nodeFlags: Partial<Record<ServiceName, readonly string[]>> = { gateway: ["--max-semi-space-size=8"] };

/** The program of a service. */
export function mainFile(name: ServiceName): string {
  return join(projectDir, "services", name, "src", "main.ts");
}

/** Starts one service as a process of its own, under the Node that runs this one. */
export async function startServiceProcess(
  name: ServiceName,
  env: NodeJS.ProcessEnv,
  logFile: string,
): Promise<Supervised> {
  const args = [...(nodeFlags[name] ?? []), mainFile(name)];
  const child = await startChild({ command: process.execPath, args, logFile, cwd: projectDir, env });
  return {
    pid: child.pid,
    exited: child.exited,
    [Symbol.asyncDispose]: async () => void (await child.stop(stopDeadlineMs)),
  };
}

/** Resolves when the ops port says ready. Throws DevstackError with the end of the log when that takes over 30 s. */
export async function untilServiceReady(name: ServiceName, opsUrl: string, logFile: string): Promise<void> {
  const deadline = AbortSignal.timeout(readyDeadlineMs);
  while (!deadline.aborted) {
    const ready = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    await pause(50);
  }
  const log = await readFile(logFile, "utf8").catch(() => "");
  const lastLines = log.trimEnd().split("\n").slice(-10).join("\n");
  throw new DevstackError(`${name} is not ready after ${readyDeadlineMs} ms; the end of ${logFile}:\n${lastLines}`);
}
