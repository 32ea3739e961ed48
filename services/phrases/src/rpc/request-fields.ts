import { DomainError } from "@vidimus/kit/errors";
import { canonicalLanguage, languageFault } from "../domain/language.ts";

/** Throws `invalid` unless the text is a tenant id. */
export function requireTenant(tenantId: string): void {
  if (!/^[a-z][a-z0-9_]{0,31}$/.test(tenantId)) throw invalid("/tenantId", "tenant_id must name a tenant");
}

/** The canonical form of a language to list; undefined for all. Throws `invalid` for what is no BCP 47 tag. */
export function readLanguageFilter(language: string): string | undefined {
  if (language === "") return undefined;
  const canonical = canonicalLanguage(language);
  if (canonical === undefined) throw invalid("/language", `language ${languageFault(language)}`);
  return canonical;
}

/** The refusal of one field of a request. */
export function invalid(pointer: string, message: string): DomainError {
  return new DomainError("invalid", message, { violations: [{ pointer, message }] });
}
