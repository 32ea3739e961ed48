import { join } from "node:path";
import { releaseDataDir } from "../backing/data-dir.ts";
import { describeProcess, stopProcess } from "../process-info.ts";
import { readDevJson } from "./dev-json.ts";
import { lockHolder, stackDeadlineMs } from "./stack-lock.ts";
import { mainFile } from "./service-process.ts";
import { programNames } from "./program-names.ts";

const stopDeadlineMs = 15_000;

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
  report(holder || orphans > 0 ? "stopped" : "no dev stack runs here");
}

/**
 * Stops programs and servers that a killed stack left running. Returns how many.
 *
 * @throws DevstackError when a process may not be stopped, or a server's parent still runs
 */
export async function endOrphans(stateDir: string, report: (line: string) => void): Promise<number> {
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
  if (await releaseDataDir("mongod", join(stateDir, "data", "mongod"), report)) count += 1;
  if (await releaseDataDir("nats-server", join(stateDir, "data", "nats"), report)) count += 1;
  return count;
}
