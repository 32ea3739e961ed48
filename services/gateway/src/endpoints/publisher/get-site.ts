import type { Client } from "@connectrpc/connect";
import type { PublishedDocumentService } from "@vidimus/contracts/vidimus/documents/v1/published_document_service";
import { Type } from "typebox";
import { heldTag } from "../../http/answers/etag.ts";
import { publishedAnswer } from "./published-answer.ts";
import { defineRoute } from "../../http/route.ts";
import { documentId } from "../schemas.ts";

const site = Type.Object(
  { id: documentId, title: Type.String(), updated_at: Type.String({ format: "date-time" }) },
  { additionalProperties: true },
);

const example = {
  hosts: ["www.example.com"],
  id: "5b1c8a52-6f6d-4c0e-8b6c-9d3f4f6e7a20",
  language: "en",
  primary: true,
  slug: "main",
  status: "usable",
  title: "Example News",
  updated_at: "2026-11-21T09:30:00.000Z",
  version: 3,
};

const head = Buffer.from('{"ok":true,"data":{"site":');
const tail = Buffer.from("}}");

interface GetSiteDeps {
  readonly published: Pick<Client<typeof PublishedDocumentService>, "getPublishedSite">;
}

export const getSite = defineRoute({
  method: "GET",
  url: "/v1/publisher/site",
  scope: "publisher:read",
  query: Type.Object(
    {
      host: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 260,
          description:
            "In any case, with or without a port. Without it the site whose meta.primary is true, or the only one.",
          "x-must": "a host name",
          examples: ["www.example.com"],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  doc: {
    operationId: "getSite",
    summary: "Read the configuration of a site",
    description: "One object: the members of its content and of its meta, and id, title and updated_at.",
    success: {
      status: 200,
      description: "The site",
      content: {
        "application/json": {
          schema: Type.Object({ ok: Type.Literal(true), data: Type.Object({ site }) }),
          example: { ok: true, data: { site: example } },
        },
      },
    },
    errors: { NOT_FOUND: "no site has that host" },
  },
  handler: (deps: GetSiteDeps) => async (call) => {
    const request = { tenantId: call.caller.tenantId, host: call.query.host ?? "", ifNoneMatch: heldTag(call) };
    const answer = await deps.published.getPublishedSite(request, call.rpc);
    return publishedAnswer(call, answer, () => [head, answer.siteJson, tail]);
  },
});
