import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { releaseDataDir } from "../backing/takeover.ts";
import { DevstackError } from "../errors.ts";
import { describeProcess, stopProcess } from "../process-info.ts";
import { readDevJson } from "./dev-json.ts";
import { mainFile } from "./service-process.ts";
import { serviceNames } from "./service-plan.ts";

const stopDeadlineMs = 15_000;

/** Holds the pid of the stack that owns the state folder. */
const ownerFile = "stack.pid";

/**
 * Ends what a killed stack left behind, so that ports and data folders are free. Throws DevstackError when the stack
 * that owns the folder is alive.
 */
export async function clearLeftovers(stateDir: string): Promise<void> {
  const dev = await readDevJson(stateDir);
  const owner = Number(await readFile(join(stateDir, ownerFile), "utf8").catch(() => "0"));
  for (const name of serviceNames) {
    const pid = dev?.pids[name];
    const running = pid === undefined ? undefined : await describeProcess(pid);
    if (pid === undefined || !running?.command.includes(mainFile(name))) continue;
    if (running.parentPid === owner) {
      throw new DevstackError(`a dev stack already runs here at ${dev?.gateway} (process ${owner}); stop that first`);
    }
    await stopProcess(pid, stopDeadlineMs);
  }
  await releaseDataDir("mongod", join(stateDir, "data", "mongod"));
  await releaseDataDir("nats-server", join(stateDir, "data", "nats"));
}

/** Writes down that this process owns the state folder. */
export async function claimState(stateDir: string): Promise<void> {
  await writeFile(join(stateDir, ownerFile), String(process.pid));
}
