import { isDeepStrictEqual } from "node:util";
import type { Fault } from "../parts/faults.ts";

export interface Settings {
  readonly url: string;
  readonly name: string;
  readonly description: string;
  readonly events: { names: string[] };
  readonly documentTypes: { names: string[] };
  /** Absent when none were typed: an endpoint that is changed then keeps its headers. */
  readonly headers?: { values: Record<string, string> };
  readonly maxInFlight?: number;
  readonly ratePerSecond: number;
}

/** Delivery checks what this function does not. */
export function readSettings(form: URLSearchParams): { value: Settings } | { faults: Fault[] } {
  const text = (name: string) => (form.get(name) ?? "").trim();
  const [rate, parallel] = [numberOf(text("rate")), numberOf(text("parallel"))];
  const headers = headersOf(form.get("headers") ?? "");
  const faults: Fault[] = [
    ...(form.has("events") ? [] : [{ field: "events", error: "Choose one at least." }]),
    ...(headers === undefined
      ? [{ field: "headers", error: "Write one header a line, as “name: value”, and each name once." }]
      : []),
    ...(rate === undefined ? [{ field: "rate", error: "Write a number from 0 on." }] : []),
    ...(parallel === undefined || !Number.isInteger(parallel)
      ? [{ field: "parallel", error: "Write a whole number from 0 on." }]
      : []),
  ];
  if (faults.length > 0) return { faults };
  return {
    value: {
      url: text("url"),
      name: text("name"),
      description: (form.get("description") ?? "").replaceAll("\r\n", "\n"),
      events: { names: form.getAll("events") },
      documentTypes: {
        names: text("types")
          .split(/[\s,]+/)
          .filter(Boolean),
      },
      ...(headers && Object.keys(headers).length > 0 ? { headers: { values: headers } } : {}),
      ...(text("parallel") === "" ? {} : { maxInFlight: parallel ?? 0 }),
      ratePerSecond: rate ?? 0,
    },
  };
}

export function differences(after: Settings, before: Settings): Partial<Settings> {
  const found: { -readonly [Name in keyof Settings]?: Settings[Name] } = { ...after };
  for (const name of settingNames) if (isDeepStrictEqual(after[name], before[name])) delete found[name];
  return found;
}

const settingNames = [
  "url",
  "name",
  "description",
  "events",
  "documentTypes",
  "headers",
  "maxInFlight",
  "ratePerSecond",
] as const satisfies readonly (keyof Settings)[];

/**
 * Reads a number of at least 0 and less than 2 ** 31, which fits into the message; undefined for
 * anything else. An empty text is 0.
 */
function numberOf(text: string): number | undefined {
  const number = text === "" ? 0 : Number(text);
  return number >= 0 && number < 2 ** 31 ? number : undefined;
}

/**
 * Reads one header a line, with names in lowercase; undefined when a line is no header, or names
 * one that another line has named.
 */
function headersOf(text: string): Record<string, string> | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const pairs = lines.map((line) => /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line));
  if (pairs.some((pair) => pair === null)) return undefined;
  const headers = Object.fromEntries(pairs.map((pair) => [(pair?.[1] ?? "").toLowerCase(), pair?.[2] ?? ""]));
  return Object.keys(headers).length === pairs.length ? headers : undefined;
}
