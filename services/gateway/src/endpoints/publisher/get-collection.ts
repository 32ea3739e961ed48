import { Type } from "typebox";
import { answerPage, type FilterName, type PageDeps, pageParameters, pageSchema } from "./published-page.ts";
import { defineRoute } from "../../http/route.ts";
import { collections, documentExample, publishedDocument } from "./publisher-schemas.ts";

function name(description: string, must: string, example: string) {
  const options = { minLength: 1, maxLength: 200, description, "x-must": must, examples: [example] };
  return Type.Optional(Type.String(options));
}

/** Does not compile unless every filter of the page request is a query parameter. */
const filters = {
  tag: name("Only documents that link to this tag, by id or slug.", "the id or the slug of a tag", "ferries"),
  site: name("Only documents of this site, by id or slug.", "the id or the slug of a site", "main"),
  language: name("Only documents whose meta.language is this, in any case.", "a BCP 47 tag", "en-GB"),
  slug: name("Only the document whose meta.slug is this now.", "a slug", "ferry-cancelled"),
} satisfies Readonly<Record<FilterName, unknown>>;

const include = Type.Optional(
  Type.String({
    enum: ["links"],
    description:
      "links: the published documents that those of the page link to come along, by id, without those of the page; " +
      "at most 400, and 4 MiB.",
  }),
);

const cursor = Type.Optional(
  Type.String({ description: "nextCursor of an earlier page of the same collection and filters, verbatim." }),
);

const query = Type.Object({ ...filters, include, ...pageParameters, cursor }, { additionalProperties: false });

export const getCollection = collections.map(({ name, type }) =>
  defineRoute({
    method: "GET",
    url: `/v1/publisher/${name}`,
    scope: "publisher:read",
    query,
    doc: {
      operationId: `list${name[0]?.toUpperCase()}${name.slice(1)}`,
      summary: `Read published documents of type ${type}`,
      description:
        "Newest first. Filters narrow the walk together. Follow nextCursor until hasMore is false. " +
        "A page may end before its limit.",
      success: {
        status: 200,
        description: "One page",
        content: {
          "application/json": {
            schema: pageSchema(publishedDocument, {
              included: Type.Optional(Type.Record(Type.String(), publishedDocument)),
            }),
            example: {
              ok: true,
              data: { items: [{ ...documentExample, type }], nextCursor: "WzEsMTc5NTI1…", hasMore: true },
            },
          },
        },
      },
    },
    handler: (deps: PageDeps) => async (call) => {
      const { updatedSince, limit, cursor, include, ...filter } = call.query;
      return answerPage(
        deps,
        call,
        { type, filter, includeLinks: true, includeLinked: include === "links", refuseForeignCursor: true },
        { updatedSince, limit, cursor },
      );
    },
  }),
);
