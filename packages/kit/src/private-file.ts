import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { ConfigError } from "./env.ts";

/**
 * Reads a small file that holds a secret. Refuses a file whose mode gives others any right, or
 * gives the group more than the right to read. The group may read, because this is how Kubernetes
 * gives a secret to a process that is not root: `defaultMode: 0400` with `fsGroup` becomes 0440,
 * owned by root. A wrong mode is an error, because a warning would be overlooked.
 *
 * @throws ConfigError naming the path and the fault, without any of the content
 */
export function readPrivateFile(path: string, bytesMax: number): Buffer {
  return readChecked(path, bytesMax, (mode) => {
    if ((mode & 0o037) === 0) return;
    const octal = (mode & 0o777).toString(8).padStart(4, "0");
    throw new ConfigError(`${path} has mode ${octal}, which lets others at the secret; make it 0400, 0440 or 0600`);
  });
}

/**
 * Reads a small file that grants permissions. Everybody may read it, since files of a ConfigMap
 * have mode 0644; only its owner may change it.
 *
 * @throws ConfigError naming the path and the fault
 */
export function readGuardedFile(path: string, bytesMax: number): Buffer {
  return readChecked(path, bytesMax, (mode) => {
    if ((mode & 0o022) === 0) return;
    const octal = (mode & 0o777).toString(8).padStart(4, "0");
    throw new ConfigError(`${path} has mode ${octal}, which lets others change it; make it 0644 or 0600`);
  });
}

/**
 * Reads a small file that needs no protection, whatever its mode.
 *
 * @throws ConfigError naming the path when the file cannot be read, is not a regular file, or has
 * more than `bytesMax` bytes
 */
export function readSmallFile(path: string, bytesMax: number): Buffer {
  return readChecked(path, bytesMax, () => {});
}

function readChecked(path: string, bytesMax: number, checkMode: (mode: number) => void): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    throw unreadable(path, error);
  }
  try {
    // The open file is checked, not its path: the file at the path may be replaced between check
    // and read.
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new ConfigError(`${path} is not a file`);
    checkMode(stat.mode);
    if (stat.size > bytesMax) throw new ConfigError(`${path} is too long: it has more than ${bytesMax} bytes`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // Reading a file of a network volume may fail after it was opened.
    throw unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

function unreadable(path: string, error: unknown): ConfigError {
  return new ConfigError(`${path} cannot be read (${codeOf(error)})`, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
