import { Type } from "typebox";
import { answerPage, type PageDeps, pageParameters, pageSchema } from "../publisher/published-page.ts";
import { defineRoute } from "../../http/route.ts";
import { documentProjection, publishableTypes } from "../schemas.ts";

const query = Type.Object(
  {
    type: Type.String({ enum: [...publishableTypes], "x-must": `one of ${publishableTypes.join(", ")}` }),
    status: Type.Optional(Type.String({ enum: ["usable"], "x-must": "usable" })),
    ...pageParameters,
  },
  { additionalProperties: false },
);

export const getDocuments = defineRoute({
  method: "GET",
  url: "/v1/documents",
  scope: "publisher:read",
  query,
  doc: {
    operationId: "listDocuments",
    summary: "Read published documents",
    description: "Newest first. Follow nextCursor until hasMore is false. A page may end before its limit.",
    success: {
      status: 200,
      description: "One page",
      content: {
        "application/json": {
          schema: pageSchema(documentProjection),
          example: { ok: true, data: { items: [], nextCursor: "", hasMore: false } },
        },
      },
    },
  },
  handler: (deps: PageDeps) => async (call) => answerPage(deps, call, { type: call.query.type }, call.query),
});
