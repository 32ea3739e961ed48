import { DomainError } from "@vidimus/kit/errors";
import { canonicalLanguage, languageFault } from "../domain/language.ts";

/**
 * The canonical form of a language to list; undefined for all.
 *
 * @throws DomainError `invalid` when it is not a BCP 47 tag
 */
export function readLanguageFilter(language: string): string | undefined {
  if (language === "") return undefined;
  const canonical = canonicalLanguage(language);
  if (canonical === undefined) throw invalid("/language", `language ${languageFault(language)}`);
  return canonical;
}

/** A DomainError `invalid` with one violation. */
export function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", message, { violations: [{ pointer, message }] });
}
