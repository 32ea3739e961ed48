import { createSecretKey, type KeyObject } from "node:crypto";
import { ConfigError, type EnvReader } from "../env.ts";
import { readPrivateFile } from "../private-file.ts";

const kekBytes = 32;
const fileBytesMax = 256;

/**
 * Reads a key encryption key: a file of 32 raw bytes, or of 32 bytes as hex or base64 text (a line
 * end may follow).
 *
 * Refuses a file that others may read, or that the group may change (`readPrivateFile`): the KEK and
 * a copy of the database together give every secret that it wraps.
 *
 * @throws ConfigError naming the fault, without any of the content
 */
function readKekFile(path: string): KeyObject {
  const content = readPrivateFile(path, fileBytesMax);
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

/**
 * Reads the key encryption key whose path a setting names; undefined when the setting is missing or
 * the file cannot be used, which is a fault of the settings then.
 */
export function readKekSetting(env: EnvReader, name: string): KeyObject | undefined {
  const path = env.string(name);
  if (path === "") return undefined;
  try {
    return readKekFile(path);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    env.fault(`${name}: ${error.message}`);
    return undefined;
  }
}
