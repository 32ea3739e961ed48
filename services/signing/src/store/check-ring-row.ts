import { Binary } from "mongodb";
import type { KeyState } from "../domain/key-ring.ts";
import { RingFault } from "../domain/sealed-ring.ts";

/** Finds the path of the first malformed value; undefined when there is none. */
type Find = (value: unknown, path: string) => string | undefined;

/**
 * Checks the form of a stored ring; a ring without a seal passes, and `RingStore` refuses it.
 *
 * @throws RingFault naming the path of the first malformed value
 */
export function checkRingRow(row: unknown): void {
  const path = findInRing(row, "");
  if (path !== undefined) throw new RingFault(`the key ring cannot be read: ${path}`);
}

const text = is((value) => typeof value === "string");
const binary = is((value) => value instanceof Binary);
const date = is((value) => value instanceof Date && !Number.isNaN(value.getTime()));
const states: Readonly<Record<KeyState, true>> = { pending: true, active: true, retired: true, revoked: true };
const state = is((value) => typeof value === "string" && Object.hasOwn(states, value));
const sealed = members({ custody: text, envelope: binary });
const key = members({
  keyId: text,
  publicKey: binary,
  state,
  publishedAt: date,
  validFrom: date,
  validUntil: optional(date),
  activeSince: optional(date),
  sealed: optional(sealed),
});
const findInRing = members({
  revision: is(Number.isSafeInteger),
  keys: list(key),
  listKey: members({ keyId: text, publicKey: binary, sealed, delegation: optional(text) }),
  seal: optional(sealed),
  mac: optional(binary),
});

function is(holds: (value: unknown) => boolean): Find {
  return (value, path) => (holds(value) ? undefined : path);
}

function optional(find: Find): Find {
  return (value, path) => (value === undefined || value === null ? undefined : find(value, path));
}

function list(find: Find): Find {
  return (value, path) => {
    if (!Array.isArray(value)) return path;
    const paths = value.map((item: unknown, index) => find(item, `${path}.${index}`));
    return paths.find((found) => found !== undefined);
  };
}

function members(finds: Readonly<Record<string, Find>>): Find {
  return (value, path) => {
    if (typeof value !== "object" || value === null) return path;
    const of = new Map<string, unknown>(Object.entries(value));
    const paths = Object.entries(finds).map(([name, find]) => find(of.get(name), path ? `${path}.${name}` : name));
    return paths.find((found) => found !== undefined);
  };
}
