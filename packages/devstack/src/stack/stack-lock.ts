import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { DevstackError } from "../errors.ts";
import { describeProcess } from "../process-info.ts";

/** The process that holds the lock of a state folder, so that one stack runs there at a time. */
interface LockHolder {
  readonly pid: number;
  /** Pids are reused; pid and start time identify a process. */
  readonly startedAt: string;
  readonly isStopping: boolean;
}

/** A held lock. Disposing it frees the folder: do so when all processes of the stack have ended. */
interface StackLock extends AsyncDisposable {
  /** Records that this stack is stopping. The next start then waits for it. */
  markStopping(): Promise<void>;
}

/**
 * Each process of a stack, usually eight or more, may take 15 s to stop. Only a broken one does, so
 * this is less than the sum.
 */
export const stackDeadlineMs = 60_000;

/** An empty SQLite database. The folder is locked while a process has a write transaction on it. */
const lockFile = "stack.lock";
/** Names the holder, for messages and `npm stop`. A killed stack leaves it. */
const holderFile = "stack.json";
/** SQLITE_BUSY, the low byte of SQLite's extended result codes for a lock that another holds. */
const sqliteBusy = 5;

/**
 * For milliseconds after it locks and before it unlocks, a holder is not named in `stack.json`. So
 * a start reports an unnamed holder only after this time.
 */
const unnamedDeadlineMs = 2000;
const unseen = "the folder is locked by a process that cannot be seen, in another container for example";

/**
 * Returns the process that `stack.json` names, if it still runs. The lock itself is not looked at.
 */
export async function lockHolder(stateDir: string): Promise<LockHolder | undefined> {
  try {
    const holder = JSON.parse(await readFile(join(stateDir, holderFile), "utf8")) as LockHolder;
    const running = await describeProcess(holder.pid);
    return running && running.startedAt === holder.startedAt ? holder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Locks a state folder, which must exist, for this process. Waits for a stack that is stopping. The
 * end of the process frees the lock, too, however it ends.
 *
 * @throws DevstackError when a stack runs there, or its holder has not ended after a minute, or the
 *   signal's reason when it aborts
 */
export async function acquireLock(
  stateDir: string,
  report: (line: string) => void,
  signal?: AbortSignal,
): Promise<StackLock> {
  const keepWaiting = waitingReporter(report);
  let endingPid: number | undefined;
  for (;;) {
    const database = tryLock(join(stateDir, lockFile));
    const holder = await lockHolder(stateDir);
    if (database && !holder) return recordHolder(stateDir, database);
    database?.close();
    // When this process has the lock, a holder that still runs was killed and ends in a moment, or
    // `stack.lock` was deleted. If the holder runs at the next look, too, it keeps the folder.
    const isEnding = database !== undefined && holder?.pid !== endingPid;
    endingPid = database && holder?.pid;
    if (holder?.isStopping === false && !isEnding) {
      throw new DevstackError(`a dev stack already runs here (process ${holder.pid}); npm stop ends it`);
    }
    if (!isEnding) keepWaiting(holder?.pid);
    // The pause rejects only when the signal aborts, and with an error of its own.
    await pause(50, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/**
 * Returns a function to call while a start waits, with the holder's pid if it is known. It reports
 * each holder once, and throws after a minute.
 */
function waitingReporter(report: (line: string) => void): (pid: number | undefined) => void {
  const startedMs = performance.now();
  let namedMs = startedMs;
  let awaitedPid: number | undefined;
  const reported = new Set<string>();
  return (pid) => {
    const nowMs = performance.now();
    if (pid !== undefined) [awaitedPid, namedMs] = [pid, nowMs];
    const line = pid === undefined ? unseen : `waiting for the dev stack of process ${pid} to stop`;
    const isDue = pid !== undefined || nowMs - namedMs > unnamedDeadlineMs;
    if (isDue && !reported.has(line)) report(line);
    if (isDue) reported.add(line);
    if (nowMs - startedMs <= stackDeadlineMs) return;
    const who = awaitedPid === undefined ? `${unseen}, and` : `the dev stack of process ${awaitedPid}`;
    throw new DevstackError(`${who} does not stop`);
  };
}

/**
 * Returns the locked database, or undefined when another process has locked it. Node has no
 * flock(2), but SQLite locks with fcntl(2): the kernel frees such a lock when its process ends, so
 * that no start has to take over the lock of a killed one, which two could do at once.
 */
function tryLock(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path);
  try {
    // Unlike BEGIN EXCLUSIVE it succeeds in one of several processes that try at the same moment.
    database.exec("BEGIN IMMEDIATE");
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === sqliteBusy) return undefined;
    throw error;
  }
}

async function recordHolder(stateDir: string, database: DatabaseSync): Promise<StackLock> {
  const { pid } = process;
  const path = join(stateDir, holderFile);
  const write = async (isStopping: boolean) => {
    const holder: LockHolder = { pid, startedAt: (await describeProcess(pid))?.startedAt ?? "", isStopping };
    // The rename keeps readers from seeing half a file. The draft needs no name of its own for each
    // process, because only the holder of the lock writes.
    await writeFile(`${path}.next`, JSON.stringify(holder));
    await rename(`${path}.next`, path);
  };
  try {
    await write(false);
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    markStopping: () => write(true),
    async [Symbol.asyncDispose]() {
      try {
        await rm(path, { force: true });
      } finally {
        database.close();
      }
    },
  };
}
