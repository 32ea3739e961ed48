import { randomBytes } from "node:crypto";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * A key that was never issued, with the prefix of a real one or a random prefix, and a valid
 * checksum. Written from the description of the format, so that it shares no code with the gateway.
 */
export function forgedKey(prefix = randomText(12)): string {
  const body = `vk_${prefix}_${randomText(43)}`;
  return body + checksum(body);
}

/** The part of a key that may be shown. */
export function prefixOf(key: string): string {
  return key.split("_")[1] ?? "";
}

function randomText(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** CRC-32, bit by bit, as six digits in base 62. */
function checksum(body: string): string {
  let crc = 0xff_ff_ff_ff;
  for (const byte of Buffer.from(body)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  let rest = (crc ^ 0xff_ff_ff_ff) >>> 0;
  let digits = "";
  for (let count = 0; count < 6; count += 1) {
    digits = (alphabet[rest % 62] ?? "") + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
