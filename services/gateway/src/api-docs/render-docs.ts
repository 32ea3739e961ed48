import { tagGroups, type ApiTag } from "./api-tags.ts";
import { guideOf, type Guide } from "./guides.ts";
import { text } from "./html.ts";
import { type NavOperation, renderPage } from "./render-page.ts";
import { type Operation, renderOperation } from "./render-operation.ts";

type PathItem = Readonly<Record<string, Operation>>;

/** The parts of an API description that pages show. */
export interface ApiDescription {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly webhooks: Readonly<Record<string, PathItem>>;
}

/** A page's styles, and its script when the page has search and forms. */
interface Assets {
  readonly style: string;
  readonly script?: string;
}

interface ListedOperation extends NavOperation {
  readonly operation: Operation;
  /** Whether the operation is a webhook, which the platform posts: the page has no form for it. */
  readonly isWebhook: boolean;
}

/** The API description as one page of HTML, with the operations in the groups of `api-tags.ts`. */
export function renderDocs(description: ApiDescription, { style, script }: Assets): string {
  const { info } = description;
  const operations = listed(description);
  const groups = tagGroups.map(({ name, tags }) => {
    const sections = tags.map((tag) => renderTag(tag, operations, script !== undefined));
    return `<h2 class="audience">${text(name)}</h2>${sections.join("")}`;
  });
  const content = `<h1>${text(info.title)}</h1>
<p class="lead">${text(info.description)}</p>
<p>Revision ${text(info.version)} · <a href="/openapi.json">openapi.json</a> · <a href="/docs/errors">errors</a></p>
<div class="tools" hidden><label id="search">Search <input type="search" autocomplete="off"></label>
<label id="key">API key for the forms, kept in this page only <input type="password" autocomplete="off" spellcheck="false"></label></div>
<p id="found" role="status"></p>
${groups.join("")}`;
  return renderPage({ title: info.title, style, script, path: "/docs", operations }, content);
}

/** A guide as a page with the navigation of the reference. */
export function renderGuide(guide: Guide, description: ApiDescription, { style }: Assets): string {
  const path = `/docs/${guide.name}`;
  const title = `${guide.title} · ${description.info.title}`;
  return renderPage({ title, style, path, operations: listed(description) }, `<article>${guide.body}</article>`);
}

/** The page at `/` of a public port. */
export function renderStart(description: ApiDescription, { style }: Assets): string {
  const content = `<h1>Vidimus</h1><ul class="start">
<li><a href="/docs">API reference, with forms to try it</a></li>
<li><a href="/docs/errors">Errors, and what to do</a></li>
<li><a href="/openapi.json">The description in OpenAPI 3.1</a></li>
<li><a href="/api/keys">The keys that verify snapshots</a></li></ul>`;
  return renderPage({ title: "Vidimus", style, path: "/", operations: listed(description) }, content);
}

function listed({ paths, webhooks }: ApiDescription): ListedOperation[] {
  const flat = (items: Readonly<Record<string, PathItem>>, isWebhook: boolean) =>
    Object.entries(items).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const { operationId, summary, tags } = operation;
        return { operationId, method: method.toUpperCase(), path, summary, tag: tags[0] ?? "", operation, isWebhook };
      }),
    );
  return [...flat(paths, false), ...flat(webhooks, true)];
}

function renderTag(tag: ApiTag, operations: readonly ListedOperation[], hasScript: boolean): string {
  const found = tag.guides.flatMap((name) => guideOf(name) ?? []);
  const links = found.map(({ name, title }) => `<a href="/docs/${name}">${text(title)}</a>`).join(" · ");
  const own = operations.filter((each) => each.tag === tag.name);
  const rendered = own.map(({ path, method, operation, isWebhook }) =>
    renderOperation(path, method, operation, hasScript && !isWebhook),
  );
  return `<section id="${tag.name}"><h3>${text(tag.title)}</h3>
<p>${text(tag.description)} Guides: ${links}</p>${rendered.join("")}</section>`;
}
