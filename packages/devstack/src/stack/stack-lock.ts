import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DevstackError } from "../errors.ts";
import { describeProcess } from "../process-info.ts";

/** The process that holds the lock of a state folder, so that one stack runs there at a time. */
export interface LockHolder {
  readonly pid: number;
  /** Pids are reused; pid and start time identify a process. */
  readonly startedAt: string;
  readonly isStopping: boolean;
}

const fileName = "stack.json";

/** Returns the process that holds the lock. Undefined when there is none or it has ended. */
export async function lockHolder(stateDir: string): Promise<LockHolder | undefined> {
  try {
    const holder = JSON.parse(await readFile(join(stateDir, fileName), "utf8")) as LockHolder;
    const running = await describeProcess(holder.pid);
    return running?.startedAt === holder.startedAt ? holder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Locks a state folder for this process. Call it only when `lockHolder` returned undefined.
 *
 * @throws DevstackError when another start acquired the lock first
 */
export async function acquireLock(stateDir: string): Promise<void> {
  await releaseLock(stateDir);
  try {
    await write(stateDir, false, "wx");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      throw new DevstackError("another dev stack is being started here");
    }
    throw error;
  }
}

/** Records that this stack is stopping. The next start then waits for it. */
export function markStopping(stateDir: string): Promise<void> {
  return write(stateDir, true, "w");
}

/** Removes the lock. Call it when all processes of the stack have ended. */
export function releaseLock(stateDir: string): Promise<void> {
  return rm(join(stateDir, fileName), { force: true });
}

async function write(stateDir: string, isStopping: boolean, flag: "w" | "wx"): Promise<void> {
  const { pid } = process;
  const holder: LockHolder = { pid, startedAt: (await describeProcess(pid))?.startedAt ?? "", isStopping };
  await writeFile(join(stateDir, fileName), JSON.stringify(holder), { flag });
}
