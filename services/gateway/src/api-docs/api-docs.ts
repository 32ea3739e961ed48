import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { routes } from "../endpoints/routes.ts";
import { describeApi } from "./describe-api.ts";
import { type ApiDescription, renderDocs } from "./render-docs.ts";

/** A page that the gateway serves. */
export interface DocsPage {
  readonly path: string;
  readonly type: string;
  readonly body: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
}

const html = "text/html; charset=utf-8";
const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The pages of the API description for the ops port: OpenAPI for tools, HTML for readers. The API
 * has another address there, so the page has no forms.
 */
export function opsDocs(): DocsPage[] {
  const style = part("docs.css");
  const policy = `${nothing}; style-src ${hashOf(style)}`;
  return [openApiPage(), { path: "/docs", type: html, body: renderDocs(description(), { style }), policy }];
}

/** The pages for the public port: calls can be sent from the reference, and `/` links to it. */
export function publicDocs(): DocsPage[] {
  const [style, script] = [part("docs.css"), part("try-it.js")];
  const policy = `${nothing}; style-src ${hashOf(style)}; script-src ${hashOf(script)}; connect-src 'self'`;
  const body = renderDocs(description(), { style, script });
  return [
    openApiPage(),
    { path: "/docs", type: html, body, policy },
    { path: "/", type: html, body: startPage, policy: nothing },
  ];
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

const startPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Vidimus</title></head>
<body><h1>Vidimus</h1><ul>
<li><a href="/docs">API reference, with forms to try it</a></li>
<li><a href="/openapi.json">its description in OpenAPI 3.1</a></li>
<li><a href="/api/keys">the keys that verify snapshots</a></li>
</ul></body></html>
`;

/** A part of the page, from a file of its own. */
function part(name: string): string {
  return readFileSync(new URL(`page/${name}`, import.meta.url), "utf8");
}

/** The source that allows exactly this inline text. */
function hashOf(content: string): string {
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}
