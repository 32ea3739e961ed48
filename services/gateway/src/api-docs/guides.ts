import { Marked, type Tokens } from "marked";
import { readFileSync } from "node:fs";
import { text } from "./html.ts";

/** A guide of docs/ as HTML. */
export interface Guide {
  /** Name of the guide's file without `.md`; the page is served at `/docs/<name>`. */
  readonly name: string;
  readonly title: string;
  /** HTML of the whole guide, the title first. */
  readonly body: string;
}

/** The guides for users of the public API, in the order of the navigation. */
const names = [
  "pushing",
  "document-types",
  "phrases",
  "build-a-site",
  "publisher-reads",
  "webhooks",
  "verify-webhooks",
  "verifiers",
  "keys",
  "errors",
];

let rendered: readonly Guide[] | undefined;

/** Renders the guides once in a process. Throws when docs/ lacks one. */
export function guides(): readonly Guide[] {
  rendered ??= names.map(readGuide);
  return rendered;
}

export function guideOf(name: string): Guide | undefined {
  return guides().find((guide) => guide.name === name);
}

function readGuide(name: string): Guide {
  const markdown = readFileSync(new URL(`../../../../docs/${name}.md`, import.meta.url), "utf8");
  const [, title = name] = /^# (.+)$/m.exec(markdown) ?? [];
  const body = renderer().parse(markdown, { async: false });
  return { name, title, body };
}

/**
 * Headings get the anchors that GitHub gives them, but a heading that is a code or a reason keeps
 * its case in the anchor.
 */
function renderer(): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth, text: raw }: Tokens.Heading) {
        return `<h${depth} id="${text(anchorOf(raw))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const words = this.parser.parseInline(tokens);
        const target = targetOf(href);
        return target === undefined ? words : `<a href="${text(target)}">${words}</a>`;
      },
      table({ header, rows }: Tokens.Table) {
        const cells = (row: readonly Tokens.TableCell[], tag: string) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("");
        const body = rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("");
        const label = header.map(({ text: raw }) => raw).join(", ");
        return `<div class="wide" role="region" tabindex="0" aria-label="Table: ${text(label)}"><table><thead><tr>${cells(header, "th")}</tr></thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
}

function anchorOf(heading: string): string {
  if (/^\w+$/.test(heading) && heading.includes("_")) return heading;
  if (/^[A-Z]+$/.test(heading)) return heading;
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/**
 * Links to guides and to the description become local. Undefined for other files of the repository,
 * which are not served: such a link becomes plain text.
 */
function targetOf(href: string): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  if (href.startsWith("openapi.json")) return "/openapi.json";
  const [, name = "", anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return names.includes(name) ? `/docs/${name}${anchor}` : undefined;
}
