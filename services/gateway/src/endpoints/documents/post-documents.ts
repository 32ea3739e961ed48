import { Type } from "typebox";
import { ok } from "../../http/answers/answer.ts";
import { defineRoute } from "../../http/route.ts";
import type { CreateDocument } from "../../upstream/create-in-batches.ts";
import { documentId, draftDocument, wrappedDraft } from "../schemas.ts";

const example = {
  id: "7b1c2f0e-5a2d-4c1e-9b7a-0d2f4a6c8e10",
  type: "core/newswire",
  title: "Council votes on the new bridge",
  meta: { priority: 3, source: "example-wire" },
  content: { blocks: [{ type: "core/text", data: { html: "The council votes on <em>Friday</em>." } }] },
};

interface PostDocumentsDeps {
  readonly createDocument: CreateDocument;
}

/**
 * The body is passed on unparsed, because documents parses it. The document is a draft; an editor's
 * tool publishes it over RPC: `rpc/documents/transition-document.ts` of documents.
 */
export const postDocuments = defineRoute({
  method: "POST",
  url: "/v1/documents",
  scope: "documents:create",
  body: { types: ["application/json"], bytesMax: 1024 * 1024 },
  doc: {
    operationId: "createDocument",
    summary: "Create a document",
    description:
      "The id is yours and makes a retry safe: 409 on your own retry means that the document is there. The reason in " +
      "error.details is same_content where what was sent is what is stored, and other_content where it is not. " +
      "The platform sets meta.status to draft and owns meta.version, workflowId, workflowVersion, final and cause.",
    body: { "application/json": { schema: Type.Union([draftDocument, wrappedDraft]), example } },
    success: {
      status: 201,
      description: "Created",
      content: {
        "application/json": {
          schema: Type.Object({ ok: Type.Literal(true), data: Type.Object({ id: documentId }) }),
          example: { ok: true, data: { id: example.id } },
        },
      },
    },
    errors: {
      CONFLICT: {
        message: `document ${example.id} already exists with the same content`,
        details: [{ pointer: "/id", message: "is in use with the same content", reason: "same_content" }],
      },
    },
  },
  handler: (deps: PostDocumentsDeps) => async (call) => {
    const id = await deps.createDocument({ caller: call.caller, documentJson: call.body, rpc: call.rpc });
    return ok(201, { id });
  },
});
