import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CliError } from "../cli-error.ts";

/**
 * Requires that a file with keys and addresses belongs to the user who runs the command, and that
 * nobody else may read, change or replace it. Commands send the keys to those addresses, so whoever
 * changes an address gets the keys. Does nothing when there is no such file.
 *
 * @throws CliError naming the file or its folder, and the fault
 */
export async function requireOwnFile(file: string): Promise<void> {
  const { mode, uid } = (await stat(file).catch(() => undefined)) ?? {};
  if (mode === undefined) return;
  requireOwner(file, uid);
  if ((mode & 0o077) !== 0) {
    const octal = (mode & 0o777).toString(8).padStart(4, "0");
    throw new CliError(`${file} has mode ${octal}: chmod 600 it, it is for you alone`);
  }
  const folder = dirname(file);
  const around = await stat(folder);
  requireOwner(folder, around.uid);
  if ((around.mode & 0o022) !== 0) {
    throw new CliError(`${file} is in a folder that others may write to: chmod 755 ${folder}`);
  }
}

/** Windows has no user ids, so there the owner is not checked. */
function requireOwner(path: string, uid: number | undefined): void {
  const own = process.getuid?.();
  if (own === undefined || uid === own) return;
  throw new CliError(`${path} belongs to another user, who would learn your keys: nothing of it is used`);
}
