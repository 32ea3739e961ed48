import { DomainError } from "@vidimus/kit/errors";
import { isUtf8 } from "node:buffer";
import { isJsonObject, jsonPointer, type JsonValue } from "./json-value.ts";

/** Largest document, in bytes of JSON. */
export const documentBytesMax = 1024 * 1024;

/** Deepest nesting; a document itself is level 1. */
export const depthMax = 64;

/** From here on a double does not tell every integer from its neighbour. */
const integersBlurFrom = 2 ** 53;

/**
 * Parses JSON that can be kept: whatever passes has one canonical form that every canonicaliser agrees on, and no
 * number in it is another than the one that was sent, but for fractions, which round to the nearest double. Of duplicate
 * members the last wins.
 *
 * @throws DomainError `too_large` above 1 MiB; `invalid`, with the JSON pointer of the place, for bytes that are not
 *   UTF-8 or not JSON, for lone surrogates, members named `__proto__`, numbers beyond a double's range, integers that a
 *   double cannot hold exactly, and nesting beyond 64 levels
 */
export function parseJson(bytes: Uint8Array): JsonValue {
  if (bytes.byteLength > documentBytesMax) {
    throw new DomainError(
      "too_large",
      `a document has at most ${documentBytesMax} bytes, this one ${bytes.byteLength}`,
    );
  }
  if (!isUtf8(bytes)) throw new DomainError("invalid", "the body is not UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const value = parse(text);
  const seen: Seen = { largeInteger: false };
  refuse(findFault(value, 1, seen));
  if (seen.largeInteger) refuse(findFault(parse(text, markInexact), 1, seen));
  return value;
}

interface Seen {
  largeInteger: boolean;
}

interface Fault {
  message: string;
  path: (string | number)[];
}

/** Stands for an integer literal that would come out as another number. */
class Inexact {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

function parse(text: string, reviver?: Reviver): JsonValue {
  try {
    return JSON.parse(text, reviver);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new DomainError("invalid", `the body is not JSON: ${error.message.toWellFormed()}`);
  }
}

function markInexact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || !/^-?\d+$/.test(source)) return value;
  // Canonical JSON writes some exact integers rounded (2^60 as 1152921504606847000); what it wrote may come back.
  const kept = BigInt(source) === BigInt(value) || source === String(value);
  return kept ? value : new Inexact(source);
}

function refuse(fault: Fault | undefined): void {
  if (!fault) return;
  const pointer = jsonPointer(fault.path);
  throw new DomainError("invalid", `${pointer || "the body"}: ${fault.message}`, {
    violations: [{ pointer, message: fault.message }],
  });
}

function findFault(value: JsonValue | Inexact, depth: number, seen: Seen): Fault | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : fault("holds a lone surrogate");
  if (typeof value === "number") return findNumberFault(value, seen);
  if (typeof value !== "object" || value === null) return undefined;
  if (value instanceof Inexact) return fault(`${value.source} cannot be kept exactly; send it as a string`);
  if (depth > depthMax) return fault(`is nested deeper than ${depthMax} levels`);
  return isJsonObject(value) ? findMemberFault(value, depth, seen) : findItemFault(value, depth, seen);
}

function findNumberFault(value: number, seen: Seen): Fault | undefined {
  if (!Number.isFinite(value)) return fault("is beyond the range of a number");
  if (Math.abs(value) >= integersBlurFrom) seen.largeInteger = true;
  return undefined;
}

function findItemFault(items: readonly JsonValue[], depth: number, seen: Seen): Fault | undefined {
  for (const [index, item] of items.entries()) {
    const found = findFault(item, depth + 1, seen);
    if (found) return within(index, found);
  }
  return undefined;
}

function findMemberFault(members: { [member: string]: JsonValue }, depth: number, seen: Seen): Fault | undefined {
  for (const [name, member] of Object.entries(members)) {
    // `JSON.parse` makes it an own member; the next assignment or spread would make it a prototype.
    if (name === "__proto__") return within(name, fault("is not a name a member may have"));
    if (!name.isWellFormed()) return within(name, fault("has a lone surrogate in its name"));
    const found = findFault(member, depth + 1, seen);
    if (found) return within(name, found);
  }
  return undefined;
}

function fault(message: string): Fault {
  return { message, path: [] };
}

function within(part: string | number, found: Fault): Fault {
  found.path.unshift(part);
  return found;
}
