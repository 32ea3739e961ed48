import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { routes } from "../endpoints/routes.ts";
import { describeApi } from "./describe-api.ts";
import { guides } from "./guides.ts";
import { type ApiDescription, renderDocs, renderGuide, renderStart } from "./render-docs.ts";

export interface DocsPage {
  readonly path: string;
  readonly type: string;
  readonly body: string;
  /** Content-Security-Policy of the page. */
  readonly policy: string;
}

const html = "text/html; charset=utf-8";
const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The pages for the ops port: the API description as OpenAPI for tools and as HTML for readers, and
 * the guides. The API itself is at another address, so the HTML has no forms that send calls.
 */
export function opsDocs(): DocsPage[] {
  const style = part("docs.css");
  const policy = `${nothing}; style-src ${hashOf(style)}`;
  return [
    openApiPage(),
    { path: "/docs", type: html, body: renderDocs(description(), { style }), policy },
    ...guidePages(style, policy),
  ];
}

/**
 * The pages for the public port: the pages of `opsDocs`, but with search and forms that send calls,
 * and `/`, which links to them.
 */
export function publicDocs(): DocsPage[] {
  const [style, script] = [part("docs.css"), `${part("search.js")}${part("try-it.js")}`];
  const scriptless = `${nothing}; style-src ${hashOf(style)}`;
  const policy = `${scriptless}; script-src ${hashOf(script)}; connect-src 'self'`;
  const body = renderDocs(description(), { style, script });
  return [
    openApiPage(),
    { path: "/docs", type: html, body, policy },
    ...guidePages(style, scriptless),
    { path: "/", type: html, body: renderStart(description(), { style }), policy: scriptless },
  ];
}

function guidePages(style: string, policy: string): DocsPage[] {
  const api = description();
  return guides().map((guide) => ({
    path: `/docs/${guide.name}`,
    type: html,
    body: renderGuide(guide, api, { style }),
    policy,
  }));
}

/** The OpenAPI document as it is committed in docs/openapi.json. */
export function openApiText(): string {
  return `${JSON.stringify(describeApi(routes), null, 2)}\n`;
}

function description(): ApiDescription {
  return describeApi(routes) as unknown as ApiDescription;
}

function openApiPage(): DocsPage {
  return { path: "/openapi.json", type: "application/json; charset=utf-8", body: openApiText(), policy: nothing };
}

function part(name: string): string {
  return readFileSync(new URL(`page/${name}`, import.meta.url), "utf8");
}

/** The CSP source that allows exactly this inline text. */
function hashOf(content: string): string {
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}
