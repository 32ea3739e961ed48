import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { customAlphabet } from "nanoid";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const pattern = /^vk_([0-9A-Za-z]{12})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const randomText = customAlphabet(alphabet);

interface MintedKey {
  /** The whole key, shown once and never stored. */
  readonly key: string;
  /** The twelve characters of the key that may be shown. */
  readonly prefix: string;
}

/** Makes a key of 256 random bits: `vk_` + 12 + `_` + 43 + 6 characters of checksum, all base62. */
export function mintApiKey(): MintedKey {
  const prefix = randomText(12);
  const body = `vk_${prefix}_${randomText(43)}`;
  return { key: body + checksum(body), prefix };
}

/** The prefix of a text with a key's form and checksum; undefined for anything else. */
export function apiKeyPrefix(text: string): string | undefined {
  const [, prefix, , sum] = pattern.exec(text) ?? [];
  return prefix !== undefined && checksum(text.slice(0, -6)) === sum ? prefix : undefined;
}

/**
 * The hash that is stored: plain SHA-256, because 256 random bits cannot be guessed however cheap
 * the hash is.
 */
export function hashApiKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let digits = 0; digits < 6; digits += 1) {
    text = alphabet.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
