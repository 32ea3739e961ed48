import { errorAt, type Fault } from "../parts/faults.ts";
import { areaField, checkField, textField } from "../parts/form.ts";
import { type Content, type Html, html } from "../../markup/html.ts";
import type { StoredPhrase } from "./stored-phrase.ts";

export interface TypedPhrase {
  readonly phrase: string;
  readonly language: string;
  /** Any of `forbidden` and `caseSensitive`. */
  readonly rules: readonly string[];
  /** One mistake on each line. */
  readonly mistakes: string;
  readonly description: string;
}

/** From field name to label; see `fields` of a route. */
export const phraseFieldLabels = {
  phrase: "Phrase",
  language: "Language",
  rules: "Rules",
  mistakes: "Common mistakes",
  description: "Description",
  id: "Id",
  read: "Read as of",
} as const;

/**
 * Most bytes of a character in a form. The service counts characters in NFC, which composes at most
 * three characters of four bytes to one, and each byte is sent percent-encoded, as three.
 */
const charBytesMax = 36;
/**
 * Largest form of a phrase, in bytes: a phrase and 50 mistakes of 256 characters, a description of
 * 1,000, and 4 KiB for the line ends and all else.
 */
export const phraseFormBytesMax = charBytesMax * (51 * 256 + 1_000) + 4_096;

export function typedIn(form: URLSearchParams): TypedPhrase {
  const [phrase = "", language = "", mistakes = "", description = ""] = (
    ["phrase", "language", "mistakes", "description"] as const
  ).map((name) => form.get(name) ?? "");
  return { phrase, language, rules: form.getAll("rules"), mistakes, description };
}

export function typedOf(stored: StoredPhrase): TypedPhrase {
  const { phrase, language, commonMistakes, description } = stored;
  const rules = (["forbidden", "caseSensitive"] as const).filter((rule) => stored[rule]);
  return { phrase, language, rules, mistakes: commonMistakes.join("\n"), description };
}

export function toJson({ phrase, language, rules, mistakes, description }: TypedPhrase, id: string): Uint8Array {
  const commonMistakes = mistakes.split(/\r?\n/).filter((line) => line.trim() !== "");
  const [forbidden, caseSensitive] = ["forbidden", "caseSensitive"].map((rule) => rules.includes(rule));
  return Buffer.from(
    JSON.stringify({ id, phrase, language: language.trim(), forbidden, caseSensitive, commonMistakes, description }),
  );
}

interface PhraseForm {
  readonly action: string;
  readonly typed: TypedPhrase;
  readonly faults?: readonly Fault[];
  /** Hidden fields. */
  readonly fields: Content;
  /** The buttons and links below the fields. */
  readonly actions: Content;
}

export function phraseForm({ action, typed, faults = [], fields, actions }: PhraseForm): Html {
  const errorOf = (field: string) => errorAt(faults, field);
  return html`<form method="post" action="${action}">
    ${fields} ${textField({ name: "phrase", label: "Phrase", value: typed.phrase, error: errorOf("phrase") })}
    ${textField({
      name: "language",
      label: "Language",
      hint: html`A tag such as <code>sv</code>, <code>en-GB</code> or <code>zh-Hant</code>.`,
      value: typed.language,
      error: errorOf("language"),
    })}
    ${checkField({
      name: "rules",
      label: "Rules",
      choices: [
        { value: "forbidden", label: "Forbidden", hint: "flag the phrase instead of accepting it" },
        { value: "caseSensitive", label: "Case counts", hint: "match it in this case alone" },
      ],
      chosen: typed.rules,
      error: errorOf("rules"),
    })}
    ${areaField({
      name: "mistakes",
      label: "Common mistakes",
      hint: "One a line: spellings that are corrected to the phrase.",
      rows: 4,
      value: typed.mistakes,
      error: errorOf("mistakes"),
    })}
    ${textField({
      name: "description",
      label: "Description",
      isOptional: true,
      value: typed.description,
      error: errorOf("description"),
    })}
    <div class="actions">${actions}</div>
  </form>`;
}
