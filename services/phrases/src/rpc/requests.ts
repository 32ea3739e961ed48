import { DomainError } from "@vidimus/kit/errors";
import { parseLanguage, languageFault } from "../domain/language.ts";

/**
 * Normalises the language of a request; "" becomes undefined.
 *
 * @throws DomainError `invalid` for a tag that `parseLanguage` refuses
 */
export function readLanguageFilter(language: string): string | undefined {
  if (language === "") return undefined;
  const parsed = parseLanguage(language);
  if (parsed === undefined) throw invalid("/language", `language ${languageFault(language)}`);
  return parsed;
}

export function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", message, { violations: [{ pointer, message }] });
}
