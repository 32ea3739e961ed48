interface Media {
  readonly schema?: unknown;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Media>> }>
  >;
}

/** What a page shows of an API description. */
export interface ApiDescription {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const style = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
  h2 { margin-top: 3rem; border-top: 1px solid #ccc; padding-top: 1rem; }
  code, pre { font: 13px/1.45 ui-monospace, monospace; background: #f4f4f2; }
  pre { padding: .7rem; overflow: auto; } table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #e4e4e0; }
  @media (prefers-color-scheme: dark) { body { background: #16171a; color: #e8e8e6; } code, pre { background: #24262b; } }
`;

/** The API description as one page of plain HTML: no script, nothing fetched from anywhere. */
export function renderDocs({ info, paths }: ApiDescription): string {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const contents = operations.map(
    ({ path, method, operation }) =>
      `<li><a href="#${text(operation.operationId)}"><code>${method} ${text(path)}</code></a> ${text(operation.summary)}</li>`,
  );
  const sections = operations.map(({ path, method, operation }) => section(path, method, operation));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)}</title><style>${style}</style></head>
<body><h1>${text(info.title)}</h1><p>Contract revision ${text(info.version)} · <a href="/openapi.json">openapi.json</a></p>
<p>${text(info.description)}</p><ul>${contents.join("")}</ul>${sections.join("")}</body></html>
`;
}

function section(path: string, method: string, operation: Operation): string {
  const { operationId, summary, description = "", parameters = [], requestBody, responses } = operation;
  const scope = operation.security.flatMap((scheme) => Object.values(scheme).flat()).join(", ");
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><td><code>${text(name)}</code></td><td>${place}${required ? ", required" : ""}</td>` +
      `<td>${text(description ?? "")} <code>${text(JSON.stringify(schema))}</code></td></tr>`,
  );
  const answers = Object.entries(responses).map(
    ([status, { description, content }]) =>
      `<tr><td>${status}</td><td>${text(description)}</td><td>${examplesOf(content)}</td></tr>`,
  );
  return `<h2 id="${text(operationId)}"><code>${method} ${text(path)}</code></h2>
<p><b>${text(summary)}.</b> ${text(description)}</p><p>${scope ? `Scope <code>${text(scope)}</code>` : "Open: no key is needed"}</p>
${rows.length > 0 ? `<h3>Parameters</h3><table>${rows.join("")}</table>` : ""}
${requestBody ? `<h3>Body</h3>${examplesOf(requestBody.content)}` : ""}
<h3>Answers</h3><table>${answers.join("")}</table>`;
}

function examplesOf(content: Readonly<Record<string, Media>> = {}): string {
  return Object.entries(content)
    .flatMap(([type, { example, examples = {} }]) => {
      const values = example === undefined ? Object.values(examples).map(({ value }) => value) : [example];
      return values.map((value) => `<div>${text(type)}</div><pre>${text(shown(value))}</pre>`);
    })
    .join("");
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function text(raw: string): string {
  return raw.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
