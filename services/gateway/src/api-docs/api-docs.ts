import { routes } from "../endpoints/routes.ts";
import { describeApi } from "./describe-api.ts";
import { type ApiDescription, renderDocs } from "./render-docs.ts";

/** A page that the gateway serves. */
export interface DocsPage {
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

/** The pages of the API description: OpenAPI for tools, HTML for readers. */
export function apiDocs(): DocsPage[] {
  const description = describeApi(routes);
  return [
    { path: "/openapi.json", type: "application/json; charset=utf-8", body: openApiText() },
    { path: "/docs", type: "text/html; charset=utf-8", body: renderDocs(description as unknown as ApiDescription) },
  ];
}

/** The OpenAPI document as it is committed in docs/openapi.json. */
export function openApiText(): string {
  return `${JSON.stringify(describeApi(routes), null, 2)}\n`;
}
