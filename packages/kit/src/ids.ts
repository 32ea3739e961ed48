import { randomUUIDv7 } from "node:crypto";
import { DomainError } from "./errors.ts";

const counterMax = 0xfff;
let lastMs = 0;
let counter = 0;

/**
 * Returns a UUIDv7 greater than every earlier one of this process, so that rows and logs keep their
 * order. Node's own `randomUUIDv7` is not ordered within a millisecond. Here the twelve bits behind
 * the version count up within a millisecond (RFC 9562, 6.2, method 1), from a random start in the
 * lower half of their range.
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

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Reads a UUID of any version in its 8-4-4-4-12 form. Returns it in lowercase, or undefined. */
export function parseUuid(text: string): string | undefined {
  const lower = text.toLowerCase();
  return uuidPattern.test(lower) ? lower : undefined;
}

export const tenantIdPattern = /^[a-z][a-z0-9_]{0,31}$/;

/**
 * Returns a request's tenant id unchanged.
 *
 * @throws DomainError `invalid`, with a violation at `/tenantId`, when `text` is not a tenant id
 */
export function requireTenantId(text: string): string {
  if (tenantIdPattern.test(text)) return text;
  const message = "must be a letter and up to 31 letters, digits or _, all lowercase";
  throw new DomainError("invalid", `tenant_id ${message}`, { violations: [{ pointer: "/tenantId", message }] });
}
