import { Marked, type Tokens } from "marked";
import { readFileSync } from "node:fs";
import { text } from "./html.ts";

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
 * Headings get the anchors that GitHub gives them, but a heading of one word in capitals, such as
 * an error code, keeps its case in the anchor.
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
      code({ text: raw }: Tokens.Code) {
        // The tabindex makes long lines scrollable by keyboard.
        return `<pre tabindex="0"><code>${text(raw)}\n</code></pre>\n`;
      },
      table({ header, rows }: Tokens.Table) {
        const used = header.map((_, at) => rows.some((row) => row[at]?.text));
        const labels = header.map(({ text: raw }) => raw.replaceAll("`", ""));
        const cells = (row: readonly Tokens.TableCell[], cell: (words: string, at: number) => string) =>
          row.map(({ tokens }, at) => (used[at] ? cell(this.parser.parseInline(tokens), at) : "")).join("");
        const head = cells(header, (words) => `<th scope="col">${words}</th>`);
        // Narrow pages show each row as a block of labelled lines.
        const body = rows.map(
          (row) =>
            `<tr>${cells(row, (words, at) => `<td data-label="${text(labels[at] ?? "")}"><div>${words}</div></td>`)}</tr>`,
        );
        const label = labels.filter((_, at) => used[at]).join(", ");
        return `<div class="wide" role="region" tabindex="0" aria-label="Table: ${text(label)}"><table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table></div>\n`;
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
 * Links to guides and to the API description become local. Undefined for other files of the
 * repository, which are not served: such a link becomes plain text.
 */
function targetOf(href: string): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  if (href.startsWith("openapi.json")) return "/openapi.json";
  const [, name = "", anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return names.includes(name) ? `/docs/${name}${anchor}` : undefined;
}
