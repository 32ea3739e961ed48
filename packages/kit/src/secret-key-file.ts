import { createSecretKey, type KeyObject } from "node:crypto";
import { ConfigError, type EnvReader } from "./env.ts";
import { readPrivateFile } from "./private-file.ts";

const keyBytes = 32;
const fileBytesMax = 256;

/**
 * Reads the secret key from the file that a setting names. Faults of the setting or the file are
 * added to `env`; the key is then undefined.
 */
export function readSecretKey(env: EnvReader, variable: string): KeyObject | undefined {
  const path = env.string(variable);
  if (path === "") return undefined;
  try {
    return readSecretKeyFile(path);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    env.fault(`${variable}: ${error.message}`);
    return undefined;
  }
}

/**
 * Reads a secret key: a file of 32 raw bytes, or of 32 bytes as hex or base64 text (a line end may
 * follow). Refuses the file modes that `readPrivateFile` refuses.
 *
 * @throws ConfigError naming the fault, without any of the content
 */
export function readSecretKeyFile(path: string): KeyObject {
  const content = readPrivateFile(path, fileBytesMax);
  try {
    const bytes = decode(content);
    if (bytes === undefined) throw new ConfigError(`${path} must hold 32 random bytes: raw, in hex, or in base64`);
    const key = createSecretKey(bytes);
    bytes.fill(0);
    return key;
  } finally {
    content.fill(0);
  }
}

function decode(content: Buffer): Buffer | undefined {
  // 32 printable characters are a passphrase or 16 bytes in hex, not a random key. Fewer than
  // one random key in 10^13 are refused by mistake.
  if (content.length === keyBytes) return isText(content) ? undefined : Buffer.from(content);
  const text = content.toString("latin1").replace(/\r?\n$/, "");
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (/^[A-Za-z0-9+/]{43}=?$/.test(text)) return Buffer.from(text, "base64");
  return undefined;
}

function isText(bytes: Buffer): boolean {
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
}
