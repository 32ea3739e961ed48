import type { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats, { type FormatName } from "ajv-formats";

/**
 * Formats of ajv-formats that take linear time, as `formats.test.ts` shows, each with what a value
 * must be. The `url` of ajv-formats is left out, because it takes quadratic time: some 10 s for
 * `http://` and 64,000 colons.
 */
const linearFormats = {
  date: "a date such as 2026-11-22",
  time: "a time with an offset, such as 15:30:00Z",
  "date-time": "a date and time with an offset, such as 2026-11-22T15:30:00Z",
  "iso-time": "a time such as 15:30:00 or 15:30:00Z",
  "iso-date-time": "a date and time such as 2026-11-22T15:30:00Z; without an offset it is UTC",
  duration: "an ISO 8601 duration such as PT90S",
  uri: "a URI with its scheme",
  "uri-reference": "a URI or a relative reference",
  "uri-template": "a URI template (RFC 6570)",
  hostname: "a host name",
  ipv4: "an IPv4 address",
  ipv6: "an IPv6 address",
  uuid: "a UUID",
  "json-pointer": "a JSON pointer such as /meta/slug",
  "json-pointer-uri-fragment": "a JSON pointer as a URI fragment, such as #/meta/slug",
  "relative-json-pointer": "a relative JSON pointer such as 1/slug",
  byte: "base64",
  int32: "an integer of 32 bits",
  int64: "an integer of 64 bits",
  float: "a number",
  double: "a number",
  password: "a string",
  binary: "a string",
} as const satisfies Partial<Record<FormatName, string>>;

/**
 * Formats of ajv-formats whose texts have a maximum length, which bounds the time. RFC 5321 limits
 * a mailbox to 254 characters.
 */
const boundedFormats = {
  email: { lengthMax: 254, rule: "an e-mail address of at most 254 characters" },
  regex: { lengthMax: 1_000, rule: "a regular expression of at most 1,000 characters" },
} as const;

/** `url` replaces that of ajv-formats: `URL.canParse` takes linear time. */
const ownFormats: Readonly<Record<string, { rule: string; validate: (text: string) => boolean }>> = {
  url: {
    rule: "an http, https or ftp URL without spaces",
    validate: (text) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text),
  },
  "language-tag": {
    rule: "a BCP 47 language tag such as sv or sv-SE: 2 or 3 letters, then parts of 1 to 8 letters and digits after hyphens",
    validate: (text) => /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/.test(text),
  },
  slug: {
    rule: "1 to 200 characters without spaces, control characters, /, ?, # and %",
    validate: (text) => /^[^\s/?#%\p{C}]{1,200}$/u.test(text),
  },
};

/** Every format that a schema may name, with what a value must be, for refusals. */
export const formatRules: ReadonlyMap<string, string> = new Map([
  ...Object.entries(linearFormats),
  ...[...Object.entries(boundedFormats), ...Object.entries(ownFormats)].map(
    ([name, { rule }]) => [name, rule] as const,
  ),
]);

/** Adds the formats of `formatRules` to a validator, and no others. */
export function addFormats(ajv: Ajv2020): void {
  ajvFormats.default(ajv, { formats: Object.keys(linearFormats) as FormatName[], keywords: true });
  for (const [name, { validate }] of Object.entries(ownFormats)) ajv.addFormat(name, { type: "string", validate });
  for (const [name, { lengthMax }] of Object.entries(boundedFormats)) {
    const within = usualFormat(name);
    ajv.addFormat(name, { type: "string", validate: (text: string) => text.length <= lengthMax && within(text) });
  }
}

function usualFormat(name: string): (text: string) => boolean {
  const format = ajvFormats.default.get(name as FormatName);
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === "function") return format;
  throw new TypeError(`format ${name} is neither a pattern nor a function`);
}
