import { randomUUIDv7 } from "node:crypto";

const counterMax = 0xfff;
let lastMs = 0;
let counter = 0;

/**
 * A fresh UUIDv7, greater than every earlier one of this process, so that rows and logs keep their order. Within a
 * millisecond the twelve bits behind the version count up (RFC 9562, 6.2, method 1), from a random start in their lower half.
 */
export function uuidv7(): string {
  const id = randomUUIDv7();
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  if (ms > lastMs) {
    lastMs = ms;
    counter = Number.parseInt(id.slice(15, 18), 16) >> 1;
  } else if (counter < counterMax) {
    counter += 1;
  } else {
    lastMs += 1;
    counter = 0;
  }
  const time = lastMs.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, "0")}${id.slice(18)}`;
}

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A UUID of any version in its 8-4-4-4-12 hex form and any case, made lowercase; undefined for anything else. */
export function parseUuid(text: string): string | undefined {
  const lower = text.toLowerCase();
  return pattern.test(lower) ? lower : undefined;
}
