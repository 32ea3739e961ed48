import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevstackError } from "../errors.ts";
import { describeProcess, stopProcess } from "../process-info.ts";
import type { BinaryName } from "./binaries.ts";

/** Holds the pid of the process whose child serves the data folder. */
const ownerFile = "owner.pid";

/** In which file of its data folder each server keeps its pid. mongod chooses its own and empties it on a clean stop. */
export const pidFiles: Readonly<Record<BinaryName, string>> = {
  mongod: "mongod.lock",
  "nats-server": "nats-server.pid",
};

/** Makes a data folder ours, creating it when needed. Throws as `releaseDataDir` does. */
export async function claimDataDir(name: BinaryName, dataDir: string): Promise<void> {
  await releaseDataDir(name, dataDir);
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, ownerFile), `${process.pid}\n`);
}

/**
 * Leaves nobody at work in a data folder: call it before the folder is used or deleted. A server whose parent was killed is
 * stopped; one whose parent lives, or that was started by hand, is not touched: then DevstackError says who it is.
 *
 * @param dataDir absolute, as the server was given it
 */
export async function releaseDataDir(name: BinaryName, dataDir: string): Promise<void> {
  const serverPid = await readPid(join(dataDir, pidFiles[name]));
  const running = serverPid === undefined ? undefined : await describeProcess(serverPid);
  if (serverPid === undefined || running === undefined || !serves(running.command, name, dataDir)) return;
  const ownerPid = await readPid(join(dataDir, ownerFile));
  if (ownerPid === undefined) throw inUse(name, serverPid, dataDir, "which was not started by the dev stack");
  if (ownerPid === running.parentPid) throw inUse(name, serverPid, dataDir, `a child of process ${ownerPid}`);
  await stopProcess(serverPid, 15_000);
}

/** A pid alone proves nothing: after a reboot it may belong to anybody. One on its way out has but its name left. */
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
