import { tagGroups } from "./api-tags.ts";
import { guides } from "./guides.ts";
import { text } from "./html.ts";

export interface NavOperation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
}

interface PageParts {
  readonly title: string;
  readonly style: string;
  /** Inline script, needed for the search and the forms. */
  readonly script?: string | undefined;
  readonly path: string;
  readonly operations: readonly NavOperation[];
}

/**
 * A page of the reference. The navigation comes after the content in the document, so that a
 * keyboard or a narrow screen reaches the content first; a wide screen shows it at the side. Styles
 * and script are inline: the page loads no other file.
 */
export function renderPage(parts: PageParts, content: string): string {
  const { title, style, script } = parts;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(title)}</title><style>${style}</style></head>
<body><header><a class="mark" href="/docs">Vidimus</a> <a class="jump" href="#contents">Contents</a></header>
<main>${content}</main>
<nav id="contents" aria-label="Contents">${renderNav(parts)}</nav>
${script === undefined ? "" : `<script>${script}</script>`}</body></html>
`;
}

function renderNav({ operations, path }: PageParts): string {
  const links = guides().map(({ name, title }) => {
    const href = `/docs/${name}`;
    const current = href === path ? ' aria-current="page"' : "";
    return `<li><a href="${href}"${current}>${text(title)}</a></li>`;
  });
  const prefix = path === "/docs" ? "" : "/docs";
  const groups = tagGroups.map(({ name, tags }) => {
    const ofTags = tags.map((tag) => {
      const own = operations.filter((operation) => operation.tag === tag.name);
      const items = own.map(
        ({ operationId, method, summary }) =>
          `<li><a href="${prefix}#${text(operationId)}"><span class="method">${method}</span> ${text(summary)}</a></li>`,
      );
      return `<li><a class="tag" href="${prefix}#${tag.name}">${text(tag.title)}</a><ul>${items.join("")}</ul></li>`;
    });
    return `<h2>${text(name)}</h2><ul>${ofTags.join("")}</ul>`;
  });
  return `<h2>Guides</h2><ul>${links.join("")}</ul>${groups.join("")}`;
}
