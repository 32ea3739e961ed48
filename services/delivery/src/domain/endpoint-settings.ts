import { DomainError } from "@vidimus/kit/errors";
import { type EndpointEvent, endpointEvents } from "./endpoint.ts";

const documentTypesMax = 50;
const headersMax = 16;
const maxInFlightMax = 128;
const [rateMin, rateMax] = [0.1, 1_000];

const deniedHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-digest",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "expect",
  "forwarded",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "via",
]);
const deniedPrefixes = ["proxy-", "vidimus-", "webhook-", "x-forwarded-", "x-vidimus-"];

/**
 * Whether an endpoint must not have a header: the platform sets it, it belongs to the connection,
 * or proxies interpret it.
 *
 * @param name in lower case
 */
export function isReservedHeader(name: string): boolean {
  return deniedHeaders.has(name) || deniedPrefixes.some((prefix) => name.startsWith(prefix));
}

/**
 * A name for people, trimmed and in NFC; "" for none.
 *
 * @throws DomainError `invalid` for a text of spaces alone, for over 200 characters, and for
 * control characters and lone surrogates
 */
export function requireName(text: string): string {
  const name = text.trim().normalize("NFC");
  if (text === "" || /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(name)) return name;
  throw refusal("/name", "must have 1 to 200 characters and no control characters");
}

/**
 * @throws DomainError `invalid` for over 1000 characters, lone surrogates, and control characters
 * other than line ends and tabs
 */
export function requireDescription(text: string): string {
  if (/^(?:[\n\r\t]|[^\p{Cc}\p{Cs}]){0,1000}$/u.test(text)) return text;
  throw refusal("/description", "must have at most 1000 characters, of control characters only line ends and tabs");
}

/**
 * The events, without duplicates and in the order of `endpointEvents`.
 *
 * @throws DomainError `invalid` for an unknown event, and when there is none
 */
export function requireEvents(names: readonly string[]): EndpointEvent[] {
  const known = endpointEvents.join(", ");
  const unknown = names.find((name) => !endpointEvents.some((event) => event === name));
  if (unknown !== undefined) throw refusal("/events", `knows no "${unknown}"; there are ${known}`);
  if (names.length === 0) throw refusal("/events", `must name at least one of ${known}`);
  return endpointEvents.filter((event) => names.includes(event));
}

/**
 * The types, without duplicates; undefined for none, which means all.
 *
 * @throws DomainError `invalid` for over 50 types, and for a type that does not look like
 * `core/article`
 */
export function requireDocumentTypes(names: readonly string[]): readonly string[] | undefined {
  const types = [...new Set(names)];
  if (types.length > documentTypesMax) throw refusal("/documentTypes", `must have at most ${documentTypesMax} types`);
  const bad = types.findIndex((type) => !/^[\w.-]{1,64}\/[\w.-]{1,64}$/.test(type));
  if (bad >= 0) throw refusal(`/documentTypes/${bad}`, "must be a document type such as core/article");
  return types.length > 0 ? types : undefined;
}

/**
 * The headers under their lowercase names. Refuses values that could end the header and begin
 * another one.
 *
 * @throws DomainError `invalid` for over 16 headers, and for a header that is reserved, given twice
 * or malformed
 */
export function requireHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const headers = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const);
  if (headers.length > headersMax) throw refusal("/headers", `must have at most ${headersMax} headers`);
  const names = new Set<string>();
  for (const [name, value] of headers) {
    const pointer = `/headers/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (names.has(name)) throw refusal(pointer, "is given twice");
    names.add(name);
    // Underscores are not allowed, because many proxies silently drop such headers.
    if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) throw refusal(pointer, "must be named by letters, digits and hyphens");
    if (isReservedHeader(name)) throw refusal(pointer, "is set by the platform or by the connection");
    if (!/^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/.test(value)) {
      throw refusal(pointer, "must have 1 to 1024 visible ASCII characters, with spaces only between them");
    }
  }
  return Object.fromEntries(headers);
}

/** @throws DomainError `invalid` unless the count is an integer from 1 to 128 */
export function requireMaxInFlight(count: number): number {
  if (Number.isInteger(count) && count >= 1 && count <= maxInFlightMax) return count;
  throw refusal("/maxInFlight", `must be an integer from 1 to ${maxInFlightMax}`);
}

/**
 * Attempts a second; undefined for 0, which means no limit.
 *
 * @throws DomainError `invalid` unless the rate is 0 or from 0.1 to 1,000
 */
export function requireRate(rate: number): number | undefined {
  if (rate === 0) return undefined;
  if (rate >= rateMin && rate <= rateMax) return rate;
  throw refusal("/ratePerSecond", `must be a number from ${rateMin} to ${rateMax}, or 0 for no limit`);
}

function refusal(pointer: string, message: string): DomainError {
  return new DomainError("invalid", `${pointer.slice(1)} ${message}`, { violations: [{ pointer, message }] });
}
