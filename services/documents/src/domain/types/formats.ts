import type { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats, { type FormatName } from "ajv-formats";

/**
 * Formats of ajv-formats that take linear time, shown by `formats.test.ts`. Its `url` is not among
 * them: it took 1.4 s for 32,000 colons and eight times that for twice as many.
 */
const linearFormats: FormatName[] = [
  "date",
  "time",
  "date-time",
  "iso-time",
  "iso-date-time",
  "duration",
  "uri",
  "uri-reference",
  "uri-template",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
  "json-pointer",
  "json-pointer-uri-fragment",
  "relative-json-pointer",
  "byte",
  "int32",
  "int64",
  "float",
  "double",
  "password",
  "binary",
];

/**
 * Formats of ajv-formats whose time is bounded by their longest text. RFC 5321 ends a mailbox at
 * 254 characters.
 */
const boundedFormats = { email: 254, regex: 1_000 } as const;

/**
 * Formats of our own. `url` is what the URL Standard parses, and what a reader of pages may follow.
 */
const ownFormats: Readonly<Record<string, (text: string) => boolean>> = {
  url: (text) => /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text),
  "language-tag": (text) => /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/.test(text),
  slug: (text) => /^[^\s/?#%\p{C}]{1,200}$/u.test(text),
};

/** Every format a schema may name. */
export const formatNames: readonly string[] = [
  ...linearFormats,
  ...Object.keys(boundedFormats),
  ...Object.keys(ownFormats),
];

/** Teaches a validator all formats, none of which takes more than linear time, and no other. */
export function addFormats(ajv: Ajv2020): void {
  ajvFormats.default(ajv, { formats: linearFormats, keywords: true });
  for (const [name, validate] of Object.entries(ownFormats)) ajv.addFormat(name, { type: "string", validate });
  for (const [name, lengthMax] of Object.entries(boundedFormats)) {
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
