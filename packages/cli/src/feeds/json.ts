import type { JsonObject } from "../json-object.ts";

/**
 * Parses JSON, but keeps the digits of an integer that no double equals. `JSON.stringify` writes
 * these digits again, so the platform refuses the number instead of storing the nearest double.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, keepDigits);
}

declare global {
  interface JSON {
    /** Declared here, because TypeScript 7.0 does not know this part of ES2026. */
    rawJSON(text: string): unknown;
  }
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || !/^-?\d{16,}$/.test(source)) return value;
  return BigInt(source) === BigInt(value) ? value : JSON.rawJSON(source);
}

/** Trimmed text that is not empty; undefined for anything else. */
export function someText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

export function compact(members: JsonObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
