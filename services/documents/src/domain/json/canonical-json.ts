import canonicalize from "canonicalize";
import { isJsonObject, type JsonObject, type JsonValue } from "./json-value.ts";

/**
 * The canonical form (RFC 8785) of a value from `parseJson`, as UTF-8.
 *
 * RFC 8785 writes strings and numbers as `JSON.stringify` does, and orders members by their UTF-16
 * code units. So `JSON.stringify` of ordered members is enough: it takes 4 µs for 2 KB, 7 µs with
 * sorting, while `canonicalize` takes 17 µs.
 *
 * Values that `parseJson` refuses, such as infinities and lone surrogates, have no canonical form,
 * and most of them are not detected here.
 */
export function canonicalJson(value: JsonValue): Buffer {
  const ordered = isOrdered(value) ? value : sortMembers(value);
  // JavaScript puts integer-like members of an object first, in numeric order, so "10" can never
  // precede "9" as canonical order demands; such values need `canonicalize`.
  const text = ordered === value || isOrdered(ordered) ? JSON.stringify(ordered) : canonicalize(value);
  if (text === undefined) throw new TypeError("the value has no JSON form");
  return Buffer.from(text);
}

/** Whether the members of every object in a value are in canonical order. */
function isOrdered(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isOrdered);
  let before = "";
  for (const name of Object.keys(value)) {
    if (name < before || !isOrdered(value[name] ?? null)) return false;
    before = name;
  }
  return true;
}

/** A copy whose members were added in canonical order. */
function sortMembers(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isJsonObject(value)) return value;
  const sorted: JsonObject = {};
  for (const name of Object.keys(value).toSorted()) sorted[name] = sortMembers(value[name] ?? null);
  return sorted;
}
