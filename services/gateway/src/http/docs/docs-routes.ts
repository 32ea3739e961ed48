import { weakTag, holdsCopy } from "../etag.ts";
import { notModified } from "../answer.ts";
import type { Route } from "../route.ts";
import type { DocsPage } from "./api-docs.ts";

const cacheControl = "public, no-cache";

/** The pages as routes of the public port, where they are wanted there. They describe themselves to nobody. */
export function docsRoutes(pages: readonly DocsPage[]): Route<unknown>[] {
  return pages.map(({ path, type, body }) => {
    const etag = weakTag(body);
    const headers = {
      "content-type": type,
      "cache-control": cacheControl,
      etag,
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    };
    return {
      method: "GET",
      url: path,
      scope: "open",
      doc: { operationId: path, summary: path, success: { status: 200, description: path, content: {} } },
      handler: () => async (call) =>
        holdsCopy(call.header("if-none-match"), etag)
          ? notModified(etag, cacheControl)
          : { status: 200, headers, body },
    };
  });
}
