/** What `JSON.parse` gives. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object as `JSON.parse` gives it. */
export interface JsonObject {
  [member: string]: JsonValue;
}

/** Narrows to an object: no array, no null. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A JSON pointer (RFC 6901) from its parts. Always well-formed, so that it can travel. */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path
    .map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("")
    .toWellFormed();
}
