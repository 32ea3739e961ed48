import { html as ghtml } from "ghtml";

const unindented = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Markup. Only `html` makes it, so every text in it is escaped. */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  /** Only for `html`, because literals are not escaped. */
  static join(literals: readonly string[], contents: readonly Content[]): Html {
    let markup = literals[0] ?? "";
    for (const [at, content] of contents.entries()) markup += markupOf(content) + (literals[at + 1] ?? "");
    return new Html(markup);
  }

  toString(): string {
    return this.#markup;
  }
}

/** Content of a template: text is escaped, `undefined` and `false` show nothing. */
export type Content = Html | string | number | undefined | false | readonly Content[];

/**
 * Makes markup of a template. The template must write double quotes around the content of an
 * attribute, because a blank in the content would end an attribute without quotes.
 */
export function html(literals: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return Html.join(withoutIndentation(literals), contents);
}

/**
 * Removes the indentation of the source, which would be 14 % to 30 % of a page. Values keep their
 * blanks, because only in values can blanks count.
 */
function withoutIndentation(literals: TemplateStringsArray): readonly string[] {
  const known = unindented.get(literals);
  if (known) return known;
  const made = literals.map((literal) => literal.replaceAll(/\n\s+/g, "\n"));
  unindented.set(literals, made);
  return made;
}

function markupOf(content: Content): string {
  if (content instanceof Html) return content.toString();
  if (content === undefined || content === false) return "";
  if (typeof content === "object") return content.reduce<string>((markup, each) => markup + markupOf(each), "");
  return ghtml`${String(content)}`;
}
