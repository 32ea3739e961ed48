import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevstackError } from "../errors.ts";
import { describeProcess, stopProcess } from "../process-info.ts";
import type { BinaryName } from "./binaries.ts";

/** Contains the pid of the process that started the server of the data folder. */
const ownerFile = "owner.pid";

/**
 * File of the data folder with the server's pid. mongod writes `mongod.lock` itself, and empties it
 * at a clean stop.
 */
export const pidFiles: Readonly<Record<BinaryName, string>> = {
  mongod: "mongod.lock",
  "nats-server": "nats-server.pid",
};

/**
 * Prepares a data folder for a server that this process starts. No other user can enter the folder.
 * Throws as `releaseDataDir` does.
 */
export async function claimDataDir(name: BinaryName, dataDir: string): Promise<void> {
  await releaseDataDir(name, dataDir);
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o700);
  await writeFile(join(dataDir, ownerFile), `${process.pid}\n`);
}

/**
 * Stops a server that a killed process left running in a data folder. Call it before the folder is
 * used or deleted.
 *
 * @param dataDir absolute, as in the server's arguments
 * @param report receives a line when a server has to be stopped
 * @returns whether a server was stopped
 * @throws DevstackError when the server's parent still runs, or the dev stack has never used the
 * folder. A server that was started by hand in a folder of the dev stack is stopped.
 */
export async function releaseDataDir(
  name: BinaryName,
  dataDir: string,
  report: (line: string) => void = () => {},
): Promise<boolean> {
  const serverPid = await readPid(join(dataDir, pidFiles[name]));
  const running = serverPid === undefined ? undefined : await describeProcess(serverPid);
  if (serverPid === undefined || running === undefined || !serves(running.command, name, dataDir)) return false;
  const ownerPid = await readPid(join(dataDir, ownerFile));
  if (ownerPid === undefined) throw inUse(name, serverPid, dataDir, "which was not started by the dev stack");
  if (ownerPid === running.parentPid) throw inUse(name, serverPid, dataDir, `a child of process ${ownerPid}`);
  report(`waiting for ${name} (process ${serverPid}) to stop, which a killed process ${ownerPid} left`);
  await stopProcess(serverPid, 15_000);
  return true;
}

/**
 * Checks the command, too, because after a reboot another process may have the pid. For an ending
 * process only the program's name is left.
 */
function serves(command: string, name: BinaryName, dataDir: string): boolean {
  return command === name || (command.includes(name) && command.includes(dataDir));
}

async function readPid(path: string): Promise<number | undefined> {
  const pid = Number((await readFile(path, "utf8").catch(() => "")).trim());
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

function inUse(name: BinaryName, pid: number, dataDir: string, whose: string): DevstackError {
  return new DevstackError(`${dataDir} is in use by ${name} ${pid}, ${whose}; stop that first`);
}
