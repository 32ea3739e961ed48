import { html as ghtml } from "ghtml";

/** Markup that `html` has made. Nothing else can make it, so every text in it is escaped. */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  /** Only for `html`. */
  static join(literals: readonly string[], contents: readonly Content[]): Html {
    const parts = contents.map((content, at) => markupOf(content) + (literals[at + 1] ?? ""));
    return new Html([literals[0] ?? "", ...parts].join(""));
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
  return Html.join(literals, contents);
}

function markupOf(content: Content): string {
  if (content instanceof Html) return content.toString();
  if (content === undefined || content === false) return "";
  if (typeof content === "object") return content.map(markupOf).join("");
  return ghtml`${String(content)}`;
}
