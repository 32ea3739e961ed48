import { ConfigError } from "@vidimus/kit/env";
import { createSecretKey, type KeyObject } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";

const kekBytes = 32;
const fileBytesMax = 256;

/**
 * Reads a key encryption key: a file of 32 raw bytes, or of 32 bytes as hex or base64 text (a line
 * end may follow).
 *
 * Refuses a file that others may read, or that the group may change: the KEK and a copy of the
 * database together give every private key. The group may read, because Kubernetes gives a secret
 * to a process that is not root that way: `defaultMode: 0400` with `fsGroup` becomes 0440, owned by
 * root. A wrong mode fails the start, because a warning would be overlooked.
 *
 * @throws ConfigError naming the fault, without any of the content
 */
export function readKekFile(path: string): KeyObject {
  const content = readPrivateFile(path);
  try {
    const key = decode(content);
    if (key === undefined) throw new ConfigError(`${path} must hold 32 random bytes: raw, in hex, or in base64`);
    const kek = createSecretKey(key);
    key.fill(0);
    return kek;
  } finally {
    content.fill(0);
  }
}

function readPrivateFile(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    throw new ConfigError(`${path} cannot be read (${codeOf(error)})`, { cause: error });
  }
  try {
    // Not `stat(path)`: the file behind a path may be replaced between check and read.
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new ConfigError(`${path} is not a file`);
    if ((stat.mode & 0o037) !== 0) {
      const octal = (stat.mode & 0o777).toString(8).padStart(4, "0");
      throw new ConfigError(`${path} has mode ${octal}, which lets others at the key; make it 0400, 0440 or 0600`);
    }
    if (stat.size > fileBytesMax) throw new ConfigError(`${path} is too long for a key of 32 bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function decode(content: Buffer): Buffer | undefined {
  // 32 printable characters are a passphrase, or 16 bytes in hex. One random key in 10^13 is
  // refused for it.
  if (content.length === kekBytes) return isText(content) ? undefined : Buffer.from(content);
  const text = content.toString("latin1").replace(/\r?\n$/, "");
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (/^[A-Za-z0-9+/]{43}=?$/.test(text)) return Buffer.from(text, "base64");
  return undefined;
}

function isText(bytes: Buffer): boolean {
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
