import { text } from "./html.ts";
import { type Operation, renderOperation } from "./render-operation.ts";

/** What a page shows of an API description. */
export interface ApiDescription {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** What stands inside the page: its styles, and the script of its forms, if it has forms. */
interface PageParts {
  readonly style: string;
  readonly script?: string;
}

/**
 * The API description as one page of HTML, which fetches nothing but, with a script, the calls that
 * a reader sends from it.
 */
export function renderDocs({ info, paths }: ApiDescription, { style, script }: PageParts): string {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const contents = operations.map(
    ({ path, method, operation }) =>
      `<li><a href="#${text(operation.operationId)}"><code>${method} ${text(path)}</code></a> ${text(operation.summary)}</li>`,
  );
  const sections = operations.map(({ path, method, operation }) =>
    renderOperation(path, method, operation, script !== undefined),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)}</title><style>${style}</style></head>
<body><h1>${text(info.title)}</h1><p>Contract revision ${text(info.version)} · <a href="/openapi.json">openapi.json</a></p>
<p>${text(info.description)}</p>${script === undefined ? "" : keyField}
<ul>${contents.join("")}</ul>${sections.join("")}${script === undefined ? "" : `<script>${script}</script>`}</body></html>
`;
}

/** Hidden until the page's script runs. */
const keyField = `<p id="key" hidden><label>API key
<input type="password" autocomplete="off" placeholder="vk_… for the forms below; the dev stack's is in .vidimus/dev.json"></label></p>`;
