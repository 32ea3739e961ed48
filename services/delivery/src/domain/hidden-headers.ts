import { isReservedHeader } from "./endpoint-settings.ts";

/** Stands where a value is not shown. */
export const hiddenValue = "•••";

/** A receiver believes whoever posts a body with one of them. */
const hmacHeaders: ReadonlySet<string> = new Set([
  "webhook-signature",
  "x-vidimus-signature-256",
  "x-vidimus-signature-256-previous",
]);

/**
 * Whether nobody may see a header's value: an HMAC, or what an endpoint asked for, which may be a
 * credential.
 */
export function isHiddenHeader(name: string): boolean {
  return hmacHeaders.has(name) || !isReservedHeader(name);
}

/** Shorter texts are no credentials, and stand in ordinary words. */
const hiddenCharactersMin = 6;

/**
 * The hidden values of a request, longest first: whole, without the scheme before the credential, and
 * as JSON writes them.
 */
export function hiddenValuesOf(headers: Readonly<Record<string, string>>): string[] {
  const hidden = Object.entries(headers).flatMap(([name, value]) => (isHiddenHeader(name) ? value : []));
  const parts = [...hidden, ...hidden.flatMap((value) => value.split(/[ ,]+/).filter((part) => !isScheme(part)))];
  const written = parts.flatMap((part) => [part, JSON.stringify(part).slice(1, -1)]);
  // A whole value that is a word is hidden, too.
  const kept = new Set(written.filter(({ length }) => length >= hiddenCharactersMin));
  return [...kept].toSorted((a, b) => b.length - a.length);
}

/** A credential's scheme, such as `Bearer`, which many answers mention. */
function isScheme(part: string): boolean {
  return /^[A-Za-z]{1,12}$/.test(part);
}

/**
 * The beginning of a receiver's answer, without values that the request hid: a receiver may echo its
 * headers. A value that reaches over the end is hidden as a whole.
 */
export function beginningWithout(hidden: readonly string[], answer: Buffer, bytesMax: number): string {
  let end = Math.min(bytesMax, answer.byteLength);
  for (const value of hidden) {
    const from = answer.subarray(0, end + value.length - 1).lastIndexOf(value);
    if (from >= 0 && from < end && from + value.length > end) end = from + value.length;
  }
  return hidden.reduce((text, value) => text.replaceAll(value, hiddenValue), answer.subarray(0, end).toString());
}
