import canonicalize from "canonicalize";
import type { JsonValue } from "./json-value.ts";

/**
 * The canonical form (RFC 8785) of a value that came through `parseJson`, as UTF-8.
 *
 * @throws Error on what has no canonical form; `parseJson` lets none of it through
 */
export function canonicalJson(value: JsonValue): Buffer {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("the value has no JSON form");
  return Buffer.from(text);
}
