import type { OpenRoute } from "../http/route.ts";
import { html } from "../markup/html.ts";

interface GetApiDocsDeps {
  readonly apiOrigin: URL;
}

/** `GET /docs`: lets pages link to the API docs without knowing their origin. */
export function getApiDocs({ apiOrigin }: GetApiDocsDeps): OpenRoute {
  return { access: "open", method: "GET", url: "/docs", handle: async () => ({ to: apiDocsUrl(apiOrigin) }) };
}

export function apiDocsUrl(apiOrigin: URL): string {
  return new URL("/docs", apiOrigin).href;
}

/** Where documents come from, for a page that has no deliveries to show. */
export const publishedElsewhere = html`Documents are published with the editors' tools, not here. How such a tool does
  it is in the <a href="/docs">API docs</a>.`;
