import { Type } from "typebox";
import { defineRoute } from "../../http/route.ts";
import { answerDocument, type DocumentDeps, documentQuery, documentSuccess } from "./published-document.ts";
import { absence, collections } from "./publisher-schemas.ts";

const params = Type.Object({
  slug: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "As in meta.slug, percent-encoded. One that the document had before is good until another takes it.",
    "x-must": "a slug of 1 to 200 characters",
    examples: ["ferry-cancelled"],
  }),
});

export const getBySlug = collections.map(({ name, one, type }) =>
  defineRoute({
    method: "GET",
    url: `/v1/publisher/${name}/slug/:slug`,
    scope: "publisher:read",
    query: documentQuery,
    params,
    doc: {
      operationId: `get${one}BySlug`,
      summary: `Read the ${type} of a slug`,
      description: "Compare meta.slug of the answer with what you asked for: where they differ, the document moved.",
      success: documentSuccess,
      errors: { ...absence, NOT_FOUND: `no ${type} was published under that slug` },
    },
    handler: (deps: DocumentDeps) => async (call) =>
      answerDocument(deps, call, { case: "slug", value: { type, slug: call.params.slug } }, call.query.include),
  }),
);
