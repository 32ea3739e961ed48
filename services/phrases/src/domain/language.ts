const charsMax = 35;
const known = new Map<string, string | undefined>();
const knownMax = 1_000;

/**
 * A BCP 47 tag in its canonical form, for example `sv-SE` for `SV-se`; undefined for anything else.
 * Undefined also for a tag with extensions or private parts, and for a language of more than three
 * letters (`Intl` accepts `english`).
 */
export function canonicalLanguage(tag: string): string | undefined {
  if (tag.length > charsMax) return undefined;
  if (known.has(tag)) return known.get(tag);
  const canonical = canonicalise(tag);
  if (known.size >= knownMax) known.clear();
  known.set(tag, canonical);
  return canonical;
}

function canonicalise(tag: string): string | undefined {
  try {
    const [canonical = ""] = Intl.getCanonicalLocales(tag);
    const { baseName, language } = new Intl.Locale(canonical);
    return baseName === canonical && language.length <= 3 ? canonical : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * The message about an invalid tag, for example
 * `must be a BCP 47 tag such as sv-SE, not "sv_SE" (did you mean "sv-SE"?)`.
 */
export function languageFault(tag: string): string {
  const hint = canonicalLanguage(tag.replaceAll("_", "-"));
  const meant = hint === undefined ? "" : ` (did you mean "${hint}"?)`;
  return `must be a BCP 47 tag such as sv-SE, not "${tag.toWellFormed().slice(0, charsMax)}"${meant}`;
}
