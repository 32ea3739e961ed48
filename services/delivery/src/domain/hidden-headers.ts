import { isReservedHeader } from "./endpoint-settings.ts";

/** Shown in place of a hidden value. */
export const hiddenValue = "•••";

/**
 * HMACs of the body: with one of them anybody could post the body, and the receiver would accept
 * it.
 */
const hmacHeaders: ReadonlySet<string> = new Set([
  "webhook-signature",
  "x-vidimus-signature-256",
  "x-vidimus-signature-256-previous",
]);

/**
 * Whether a header's value is hidden from everybody: an HMAC, or a header of the endpoint, which
 * may be a credential.
 */
export function isHiddenHeader(name: string): boolean {
  return hmacHeaders.has(name) || !isReservedHeader(name);
}

/** Shorter values are shown: they are too short for credentials and occur in ordinary words. */
const hiddenCharactersMin = 6;

/**
 * The texts to hide in an answer, longest first: each hidden header's value as a whole, its parts
 * between spaces and commas except schemes, and all of these as JSON writes them.
 */
export function hiddenValuesOf(headers: Readonly<Record<string, string>>): string[] {
  const hidden = Object.entries(headers).flatMap(([name, value]) => (isHiddenHeader(name) ? value : []));
  // A part that is a short word is taken for a scheme such as `Bearer`, which many answers mention.
  const parts = [...hidden, ...hidden.flatMap((value) => value.split(/[ ,]+/).filter((part) => !isScheme(part)))];
  const written = parts.flatMap((part) => [part, JSON.stringify(part).slice(1, -1)]);
  const kept = new Set(written.filter(({ length }) => length >= hiddenCharactersMin));
  return [...kept].toSorted((a, b) => b.length - a.length);
}

function isScheme(part: string): boolean {
  return /^[A-Za-z]{1,12}$/.test(part);
}

/**
 * The beginning of a receiver's answer, without values that are hidden in the request, because a
 * receiver may echo its headers. A value that extends beyond the limit is hidden completely.
 */
export function beginningWithout(hidden: readonly string[], answer: Buffer, bytesMax: number): string {
  let end = Math.min(bytesMax, answer.byteLength);
  for (const value of hidden) {
    const from = answer.subarray(0, end + value.length - 1).lastIndexOf(value);
    if (from >= 0 && from < end && from + value.length > end) end = from + value.length;
  }
  return hidden.reduce((text, value) => text.replaceAll(value, hiddenValue), answer.subarray(0, end).toString());
}
