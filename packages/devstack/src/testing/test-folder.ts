import { accessSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TestFolder extends Disposable {
  readonly path: string;
}

/** Linux's folder for files in memory. */
const memory = "/dev/shm";
/** Bytes of free space; a whole run of the tests needs a tenth of this. */
const spaceMin = 4 * 2 ** 30;

/**
 * Makes a folder for the servers that a test starts, in memory if it has space: a disk that other
 * work keeps busy holds writes up for seconds, and tests of time-outs would take that for a fault
 * of the platform. The folder is removed when it is disposed of or this process exits; after a
 * kill, by the next process that makes such a folder.
 */
export function openTestFolder(label: string): TestFolder {
  const root = hasSpace(memory) ? memory : tmpdir();
  removeLeft(root);
  const path = mkdtempSync(join(root, `vidimus-test-${process.pid}-${label}-`));
  // After Ctrl-C vitest exits without a teardown.
  const removeAtExit = () => remove(path);
  process.once("exit", removeAtExit);
  return {
    path,
    [Symbol.dispose]: () => {
      process.off("exit", removeAtExit);
      remove(path);
    },
  };
}

/** Linux states the space of a folder in memory without regard to free memory, so both count. */
function hasSpace(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return Math.min(bavail * bsize, process.availableMemory()) >= spaceMin;
  } catch {
    return false;
  }
}

/** Removes folders whose process was killed. */
function removeLeft(root: string): void {
  for (const name of readdirSync(root)) {
    const [, pid] = /^vidimus-test-(\d+)-/.exec(name) ?? [];
    if (pid && !isRunning(Number(pid))) remove(join(root, name));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Tries again when a server that still runs makes files meanwhile. */
function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}
