import { randomUUIDv7 } from "node:crypto";

/** A fresh UUIDv7: sorts by time of making, so that rows and logs keep their order. */
export function uuidv7(): string {
  return randomUUIDv7();
}

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A UUID of any version in its 8-4-4-4-12 hex form and any case, made lowercase; undefined for anything else. */
export function parseUuid(text: string): string | undefined {
  const lower = text.toLowerCase();
  return pattern.test(lower) ? lower : undefined;
}
