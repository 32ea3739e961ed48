/** RFC 5646, 4.4.1: implementations must accept tags of this length. */
const charsMax = 35;

/**
 * `langtag` of RFC 5646, 2.1, without extensions and private use, and without languages of more
 * than three letters: the RFC reserves those of four and has none of five to eight, and a pattern
 * with them would accept `english`.
 */
const wellFormed =
  /^[a-z]{2,3}(?:-[a-z]{3}){0,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*$/;

/** `irregular` of RFC 5646, 2.1: tags that are older than the grammar. */
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
 * Returns a tag that is well-formed by RFC 5646 in the case of its section 2.1.1, for example
 * `sv-SE` for `SV-se`. Undefined for anything else, and for a tag with extensions, private parts, a
 * repeated variant, a language of more than three letters, or more than 35 characters.
 *
 * Aliases stay as they are: replacing `tl` by `fil` would merge the phrases of two languages.
 */
export function parseLanguage(tag: string): string | undefined {
  if (tag.length > charsMax || !/^[a-z0-9-]*$/i.test(tag)) return undefined;
  const lower = tag.toLowerCase();
  const parts = lower.split("-");
  if (!irregular.has(lower) && (!wellFormed.test(lower) || hasVariantTwice(parts))) return undefined;
  return parts.map(inCase).join("-");
}

/** Only variants have five or more characters, or four beginning with a digit. */
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
