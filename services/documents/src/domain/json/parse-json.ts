import { DomainError } from "@vidimus/kit/errors";
import { checkJsonBytes } from "@vidimus/kit/json-bytes";
import { isJsonObject, jsonPointer, type JsonValue } from "./json-value.ts";

/** Largest document, in bytes of JSON. */
export const documentBytesMax = 1024 * 1024;

/** Deepest nesting; the document itself is level 1. */
export const depthMax = 64;

/** Integers with fewer characters are always exact as a double: 2^53 has 16 digits. */
const digitsMin = 16;

const [quote, plus, minus, dot, zero, nine, backslash, letterE] = [0x22, 0x2b, 0x2d, 0x2e, 0x30, 0x39, 0x5c, 0x65];

/** From 2^53 on a double cannot represent every integer. */
const integersBlurFrom = 2 ** 53;

/**
 * Parses JSON that can be stored: every accepted value has one canonical form on which all
 * canonicalisers agree, and keeps its numbers as they were sent, except that those with a fraction
 * or an exponent round to the nearest double. Of duplicate members the last wins.
 *
 * @throws DomainError `too_large` above 1 MiB; `invalid` for bytes that are not UTF-8 or not JSON
 * and for a byte order mark, and, with a JSON pointer, for lone surrogates, members named
 * `__proto__`, numbers beyond a double's range, integers that a double cannot hold exactly (but
 * see `isExact`), and nesting beyond 64 levels
 */
export function parseJson(bytes: Uint8Array): JsonValue {
  if (bytes.byteLength > documentBytesMax) {
    throw new DomainError(
      "too_large",
      `a document has at most ${documentBytesMax} bytes, this one ${bytes.byteLength}`,
    );
  }
  checkJsonBytes(bytes);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const value = parse(text);
  const seen: Seen = { largeInteger: false };
  refuse(findFault(value, 1, seen));
  if (seen.largeInteger && hasInexactInteger(text)) refuse(findFault(parse(text, markInexact), 1, seen));
  return value;
}

interface Seen {
  largeInteger: boolean;
}

interface Fault {
  message: string;
  path: (string | number)[];
}

/** Replaces an integer literal that a double cannot hold exactly. */
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
  if (typeof value !== "number" || source === undefined) return value;
  return isExact(source) ? value : new Inexact(source);
}

/**
 * Whether an integer literal is exact as a double. Literals with a fraction or an exponent may
 * round and count as exact.
 */
function isExact(source: string): boolean {
  if (source.length < digitsMin || !/^-?\d+$/.test(source)) return true;
  const value = Number(source);
  // Infinite only in a member that a later duplicate replaces: all other infinite numbers were
  // refused before.
  if (!Number.isFinite(value)) return true;
  // Canonical JSON writes some exact integers rounded (2^60 as 1152921504606847000), and callers
  // may send that text back.
  return BigInt(source) === BigInt(value) || source === String(value);
}

/**
 * Whether a literal outside the strings of this valid JSON is an inexact integer. `JSON.parse` with
 * a reviver would find the literal, too, and its place, but calls the reviver for every value: for
 * 1 MiB of integers that takes 0.7 s, and this scan some 5 ms.
 */
function hasInexactInteger(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = closingQuote(text, at);
    else if (code === minus || (code >= zero && code <= nine)) {
      const start = at;
      while (isNumeric(text.charCodeAt(at + 1))) at += 1;
      if (!isExact(text.slice(start, at + 1))) return true;
    }
  }
  return false;
}

function closingQuote(text: string, opening: number): number {
  let at = opening + 1;
  for (; text.charCodeAt(at) !== quote; at += 1) if (text.charCodeAt(at) === backslash) at += 1;
  return at;
}

function isNumeric(code: number): boolean {
  return (code >= zero && code <= nine) || code === plus || code === minus || code === dot || (code | 0x20) === letterE;
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
  // A loop over the index, because iterating over the entries of a million items took twice as
  // long.
  for (let index = 0; index < items.length; index += 1) {
    const found = findFault(items[index] ?? null, depth + 1, seen);
    if (found) return within(index, found);
  }
  return undefined;
}

function findMemberFault(members: { [member: string]: JsonValue }, depth: number, seen: Seen): Fault | undefined {
  for (const name of Object.keys(members)) {
    // `JSON.parse` makes `__proto__` an own member, but code that assigns it to another object
    // would set the prototype of that object.
    if (name === "__proto__") return within(name, fault("is not a name a member may have"));
    if (!name.isWellFormed()) return within(name, fault("has a lone surrogate in its name"));
    const found = findFault(members[name] ?? null, depth + 1, seen);
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
