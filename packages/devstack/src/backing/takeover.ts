import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevstackError } from "../errors.ts";
import { describeProcess, stopProcess } from "../process-info.ts";
import type { BinaryName } from "./binaries.ts";

/** Holds the pid of the process whose child serves the data folder. */
const ownerFile = "owner.pid";

/**
 * Makes a data folder ours, creating it when needed. A server left behind by a parent that was killed is stopped; one whose parent
 * still lives, or that somebody started by hand, is not touched: then DevstackError says who holds the folder.
 * @param pidFile name of the file in which the server itself writes its pid (mongod.lock)
 */
export async function claimDataDir(name: BinaryName, dataDir: string, pidFile: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const serverPid = await readPid(join(dataDir, pidFile));
  const running = serverPid === undefined ? undefined : await describeProcess(serverPid);
  if (serverPid !== undefined && running !== undefined && serves(running.command, name, dataDir)) {
    const ownerPid = await readPid(join(dataDir, ownerFile));
    if (ownerPid === undefined) throw inUse(name, serverPid, dataDir, "which was not started by the dev stack");
    if (ownerPid === running.parentPid) throw inUse(name, serverPid, dataDir, `a child of process ${ownerPid}`);
    await stopProcess(serverPid, 15_000);
  }
  await writeFile(join(dataDir, ownerFile), `${process.pid}\n`);
}

/** A pid alone proves nothing: after a reboot it may belong to anybody. */
function serves(command: string, name: BinaryName, dataDir: string): boolean {
  return command.includes(name) && command.includes(dataDir);
}

async function readPid(path: string): Promise<number | undefined> {
  const pid = Number((await readFile(path, "utf8").catch(() => "")).trim());
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

function inUse(name: BinaryName, pid: number, dataDir: string, whose: string): DevstackError {
  return new DevstackError(`${dataDir} is in use by ${name} ${pid}, ${whose}; stop that first`);
}
