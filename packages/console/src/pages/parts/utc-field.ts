import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { textField } from "./form.ts";
import type { Content, Html } from "../../markup/html.ts";

interface UtcField {
  readonly name: string;
  readonly label: string;
  readonly hint?: Content;
  readonly value: string;
  readonly error?: string | undefined;
}

export function utcField({ label, ...field }: UtcField): Html {
  return textField({ ...field, label: `${label} (UTC)`, type: "datetime-local", isOptional: true });
}

/** An instant as the text of a `utcField`, to the minute: `2026-11-25T17:30`. */
export function utcText(at: Date): string {
  return at.toISOString().slice(0, 16);
}

const pattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/;

/** Reads the text of a `utcField`: `2026-11-25T17:30`. Undefined when it is empty. */
export function readUtc(text: string): Timestamp | "malformed" | undefined {
  if (text === "") return undefined;
  const at = new Date(pattern.test(text) ? `${text}Z` : Number.NaN);
  // JavaScript reads 31 February as 3 March, so the date must give the same text again.
  const isTime = !Number.isNaN(at.getTime()) && text.startsWith(utcText(at));
  return isTime ? timestampFromDate(at) : "malformed";
}

/** The fault of a field whose text `readUtc` calls malformed. */
export function notATime(field: string) {
  return { field, error: "This is not a time." };
}
