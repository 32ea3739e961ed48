/** RFC 5646, 4.4.1: every implementation has to take so many. */
const charsMax = 35;

/**
 * `langtag` of RFC 5646, 2.1, without extensions and private use, and with no language of more than
 * three letters: longer ones are reserved, and would take `english`.
 */
const wellFormed =
  /^[a-z]{2,3}(?:-[a-z]{3}){0,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*$/;

/** `irregular` of RFC 5646, 2.1: registered before there was a grammar. */
const irregular: ReadonlySet<string> = new Set([
  "en-gb-oed",
  "i-ami",
  "i-bnn",
  "i-default",
  "i-enochian",
  "i-hak",
  "i-klingon",
  "i-lux",
  "i-mingo",
  "i-navajo",
  "i-pwn",
  "i-tao",
  "i-tay",
  "i-tsu",
  "sgn-be-fr",
  "sgn-be-nl",
  "sgn-ch-de",
]);

/**
 * A language tag that is well-formed by RFC 5646, in the case that its section 2.1.1 recommends, for
 * example `sv-SE` for `SV-se`; undefined for anything else. Undefined also for a tag with extensions
 * or private parts, and for one with a variant twice.
 *
 * No alias is followed: `tl` and `fil`, whose phrases are two, would become one.
 */
export function parseLanguage(tag: string): string | undefined {
  if (tag.length > charsMax || !/^[a-z0-9-]*$/i.test(tag)) return undefined;
  const lower = tag.toLowerCase();
  const parts = lower.split("-");
  if (!irregular.has(lower) && (!wellFormed.test(lower) || hasVariantTwice(parts))) return undefined;
  return parts.map(inCase).join("-");
}

/** Only variants have five characters or more, or four that begin with a digit. */
function hasVariantTwice(parts: readonly string[]): boolean {
  const variants = parts.filter((part) => /^(?:.{5,}|[0-9].{3})$/.test(part));
  return new Set(variants).size < variants.length;
}

function inCase(part: string, position: number): string {
  if (position === 0) return part;
  if (part.length === 2) return part.toUpperCase();
  return part.length === 4 ? part.charAt(0).toUpperCase() + part.slice(1) : part;
}

/**
 * The message about an invalid tag, for example
 * `must be a BCP 47 tag such as sv-SE, not "sv_SE" (did you mean "sv-SE"?)`.
 */
export function languageFault(tag: string): string {
  const hint = parseLanguage(tag.replaceAll("_", "-"));
  const meant = hint === undefined ? "" : ` (did you mean "${hint}"?)`;
  return `must be a BCP 47 tag such as sv-SE, not "${tag.toWellFormed().slice(0, charsMax)}"${meant}`;
}
