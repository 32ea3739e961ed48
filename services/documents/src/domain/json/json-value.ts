export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

export interface JsonObject {
  [member: string]: JsonValue;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A JSON pointer (RFC 6901) from its parts. Lone surrogates are replaced, because messages must be
 * well-formed.
 */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path
    .map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("")
    .toWellFormed();
}
