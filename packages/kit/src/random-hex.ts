import { randomFillSync } from "node:crypto";

/**
 * Random bytes for hundreds of ids, because a call of randomFillSync costs microseconds even for a
 * few bytes.
 */
const page = Buffer.alloc(8 * 1024);
let used = page.length;

/** Returns random bytes, at most 8 KiB, in hex. */
export function randomHex(bytes: number): string {
  if (used + bytes > page.length) {
    randomFillSync(page);
    used = 0;
  }
  return page.toString("hex", used, (used += bytes));
}
