import { Type } from "typebox";
import { defineRoute } from "../../http/route.ts";
import { answerDocument, type DocumentDeps, documentQuery, documentSuccess } from "./published-document.ts";
import { absence, idParameter } from "./publisher-schemas.ts";

export const getDocument = defineRoute({
  method: "GET",
  url: "/v1/publisher/documents/:id",
  scope: "publisher:read",
  query: documentQuery,
  params: Type.Object({ id: idParameter }),
  doc: {
    operationId: "getPublishedDocument",
    summary: "Read a published document",
    description: "410 once it is withdrawn; 404 when it never was published, or is of a type that is not.",
    success: documentSuccess,
    errors: absence,
  },
  handler: (deps: DocumentDeps) => async (call) =>
    answerDocument(deps, call, { case: "documentId", value: call.params.id }, call.query.include),
});
