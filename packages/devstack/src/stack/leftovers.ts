import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { releaseDataDir } from "../backing/data-dir.ts";
import { DevstackError } from "../errors.ts";
import { describeProcess, stopProcess } from "../process-info.ts";
import { readDevJson } from "./dev-json.ts";
import { lockHolder, type LockHolder, releaseLock } from "./stack-lock.ts";
import { mainFile } from "./service-process.ts";
import { programNames } from "./program-names.ts";

const stopDeadlineMs = 15_000;
/** Eight processes have 15 s each. Only a broken one needs them, so this is less than their sum. */
const stackDeadlineMs = 60_000;

/**
 * Prepares a state folder for a start: waits for a stack that is stopping, and stops the processes
 * that a killed stack left running.
 *
 * @throws DevstackError when a stack runs there, a stopping stack has not ended after a minute, or
 * a process cannot be stopped
 */
export async function clearLeftovers(stateDir: string, report: (line: string) => void): Promise<void> {
  const holder = await lockHolder(stateDir);
  if (holder?.isStopping) await waitFor(holder, stateDir, report);
  else if (holder) throw new DevstackError(`a dev stack already runs here (process ${holder.pid}); npm stop ends it`);
  await endOrphans(stateDir, report);
}

/**
 * Stops the stack of a state folder and the processes that a killed stack left running. Resolves
 * when all have ended.
 */
export async function stopStack(stateDir: string, report: (line: string) => void): Promise<void> {
  const holder = await lockHolder(stateDir);
  if (holder) {
    report(`stopping the dev stack of process ${holder.pid}`);
    await stopProcess(holder.pid, stackDeadlineMs);
  }
  const orphans = await endOrphans(stateDir, report);
  await releaseLock(stateDir);
  report(holder || orphans > 0 ? "stopped" : "no dev stack runs here");
}

async function waitFor({ pid }: LockHolder, stateDir: string, report: (line: string) => void): Promise<void> {
  report(`waiting for the dev stack of process ${pid} to stop`);
  const timeoutAtMs = performance.now() + stackDeadlineMs;
  while ((await lockHolder(stateDir))?.pid === pid) {
    if (performance.now() > timeoutAtMs) throw new DevstackError(`the dev stack of process ${pid} does not stop`);
    await pause(50);
  }
}

/** Stops programs and servers whose stack has ended. Returns the number of programs. */
async function endOrphans(stateDir: string, report: (line: string) => void): Promise<number> {
  const pids = (await readDevJson(stateDir))?.pids ?? {};
  const programs = programNames.map(mainFile);
  let count = 0;
  for (const [name, pid] of Object.entries(pids)) {
    const command = (await describeProcess(pid))?.command;
    if (!programs.some((program) => command?.includes(program))) continue;
    report(`waiting for ${name} (process ${pid}) to stop, which a killed dev stack left`);
    await stopProcess(pid, stopDeadlineMs);
    count += 1;
  }
  await releaseDataDir("mongod", join(stateDir, "data", "mongod"), report);
  await releaseDataDir("nats-server", join(stateDir, "data", "nats"), report);
  return count;
}
