import { weakTag, holdsCopy } from "../http/answers/etag.ts";
import type { Route } from "../http/route.ts";
import type { DocsPage } from "./api-docs.ts";

/** Makes routes of the public port that serve the pages. The API description does not list them. */
export function docsRoutes(pages: readonly DocsPage[]): Route<unknown>[] {
  return pages.map(({ path, type, body, policy }) => {
    const etag = weakTag(body);
    const headers = {
      "content-type": type,
      "cache-control": "public, no-cache",
      etag,
      "content-security-policy": policy,
    };
    return {
      method: "GET",
      url: path,
      scope: "open",
      doc: { operationId: path, summary: path, success: { status: 200, description: path, content: {} } },
      handler: () => async (call) =>
        // A browser replaces the headers of its cached page by those of a 304, so the 304 has the
        // page's own policy: a stricter one would block the styles.
        holdsCopy(call, etag) ? { status: 304, headers, body: undefined } : { status: 200, headers, body },
    };
  });
}
